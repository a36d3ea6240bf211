package pool

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/internal/leaktest"
	"github.com/cosim-go/cosim/topology/layout"
)

func TestMain(m *testing.M) { leaktest.Main(m, nil) }

func newPool(t *testing.T, size layout.Size) *Pool {
	t.Helper()
	p, err := New(filepath.Join(leaktest.ShmDir(t), "m0.pool"), size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// Requirements: L1, X5
func TestCreateMakesASparsePrivateFile(t *testing.T) {
	path := filepath.Join(leaktest.ShmDir(t), "m0.pool")
	if err := Create(path, 96*layout.GiB); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		t.Fatal(err)
	}
	if st.Size != 96<<30 || st.Blocks != 0 || st.Mode != unix.S_IFREG|0o600 {
		t.Errorf("size %d, blocks %d, mode %o, want 96 GiB, none, 0600", st.Size, st.Blocks, st.Mode)
	}
	for range 2 {
		if err := Remove(path); err != nil {
			t.Errorf("Remove = %v", err)
		}
	}
}

func TestCreateLeavesWhatIsThere(t *testing.T) {
	dir := leaktest.ShmDir(t)
	target, link, file := dir+"/target", dir+"/link", dir+"/file"
	if err := errors.Join(os.WriteFile(file, []byte("mine"), 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		if err := Create(path, 4096); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Create(%s) = %v, want fs.ErrExist", path, err)
		}
	}
	if text, _ := os.ReadFile(file); string(text) != "mine" {
		t.Errorf("the file holds %q", text)
	}
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Create followed the link: %v", err)
	}
}

func TestCreateThatFailsLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []layout.Size{0, layout.MaxSize, layout.MaxSize + 1} {
		if err := Create(dir+"/pool", size); err == nil {
			t.Errorf("Create of %d bytes made a pool on a file system that cannot hold one", size)
		}
	}
	if names, _ := os.ReadDir(dir); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

// Requirements: L1, L3
func TestAPoolIsSharedByItsMappings(t *testing.T) {
	const size = 96 * layout.GiB
	vram := layout.Addr(88 * layout.GiB)
	writer := newPool(t, size)
	reader, err := Open(writer.path, &Options{Size: size})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	view, err := writer.Region(vram, 8*layout.GiB)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := view.WriteAt([]byte("last"), int64(8*layout.GiB)-4); n != 4 || err != nil {
		t.Fatalf("WriteAt = %d, %v", n, err)
	}
	got := make([]byte, 8)
	if n, err := reader.ReadAt(got, int64(size)-4); n != 4 || err != io.EOF || string(got[:4]) != "last" {
		t.Errorf("ReadAt = %d, %v, %q, want the 4 bytes written, and io.EOF", n, err, got)
	}
	if reader.Size() != size || view.Size() != 8*layout.GiB {
		t.Errorf("sizes = %d, %d", reader.Size(), view.Size())
	}
	if _, err := reader.WriteAt([]byte("x"), 0); err == nil {
		t.Error("a pool mapped for reading was written to")
	}
}

func TestAccessStaysInBounds(t *testing.T) {
	p := newPool(t, 3*4096)
	if _, err := p.WriteAt(bytes.Repeat([]byte{0xee}, 3*4096), 0); err != nil {
		t.Fatal(err)
	}
	v, err := p.Region(4096, 4096)
	if err != nil {
		t.Fatal(err)
	}
	type access interface {
		io.ReaderAt
		io.WriterAt
	}
	for name, tt := range map[string]struct {
		at     access
		off    int64
		length int
		n      int   // read
		read   error // of the read
		write  error
	}{
		"inside":                    {v, 0, 4096, 4096, nil, nil},
		"the end":                   {v, 4096, 1, 0, io.EOF, ErrBounds},
		"behind the end":            {v, 4097, 1, 0, io.EOF, ErrBounds},
		"across the end":            {v, 4090, 10, 6, io.EOF, ErrBounds},
		"nothing at the end":        {v, 4096, 0, 0, nil, nil},
		"before the start":          {v, -1, 1, 0, ErrBounds, ErrBounds},
		"the largest offset":        {v, math.MaxInt64, 1, 0, io.EOF, ErrBounds},
		"the smallest offset":       {v, math.MinInt64, 1, 0, ErrBounds, ErrBounds},
		"pool, inside":              {p, 8192, 4096, 4096, nil, nil},
		"pool, across the end":      {p, 3*4096 - 1, 2, 1, io.EOF, ErrBounds},
		"pool, the largest offset":  {p, math.MaxInt64, 2, 0, io.EOF, ErrBounds},
		"pool, the smallest offset": {p, math.MinInt64, 2, 0, ErrBounds, ErrBounds},
	} {
		t.Run(name, func(t *testing.T) {
			b := make([]byte, tt.length)
			if n, err := tt.at.ReadAt(b, tt.off); n != tt.n || !errors.Is(err, tt.read) {
				t.Errorf("ReadAt = %d, %v, want %d, %v", n, err, tt.n, tt.read)
			}
			want := tt.length
			if tt.write != nil {
				want = 0
			}
			if n, err := tt.at.WriteAt(b, tt.off); n != want || !errors.Is(err, tt.write) {
				t.Errorf("WriteAt = %d, %v, want %d, %v", n, err, want, tt.write)
			}
		})
	}
}

func TestARegionLiesInItsPool(t *testing.T) {
	p := newPool(t, 8192)
	for _, r := range []struct {
		offset layout.Addr
		size   layout.Size
	}{{8193, 0}, {4096, 4097}, {0, 8193}, {math.MaxUint64, 1}, {4096, math.MaxUint64}, {math.MaxUint64 - 4095, 4096}} {
		if _, err := p.Region(r.offset, r.size); !errors.Is(err, ErrBounds) {
			t.Errorf("Region(%d, %d) = %v, want ErrBounds", r.offset, r.size, err)
		}
	}
	if _, err := p.Region(8192, 0); err != nil {
		t.Errorf("an empty region at the end: %v", err)
	}
}

func TestUseAfterCloseIsAnError(t *testing.T) {
	p := newPool(t, 4096)
	v, err := p.Region(0, 4096)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	b := make([]byte, 1)
	_, read := p.ReadAt(b, 0)
	_, write := v.WriteAt(b, 0)
	_, region := p.Region(0, 1)
	for _, err := range []error{read, write, region} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("use after Close = %v, want ErrClosed", err)
		}
	}
	if p.Size() != 0 {
		t.Errorf("Size() = %d after Close", p.Size())
	}
}

func TestCloseWaitsForReaders(t *testing.T) {
	p := newPool(t, 16*layout.MiB)
	var readers sync.WaitGroup
	started := make(chan struct{}, 4)
	for range 4 {
		readers.Go(func() {
			b := make([]byte, layout.MiB)
			started <- struct{}{}
			for {
				if _, err := p.ReadAt(b, 0); err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Errorf("ReadAt = %v", err)
					}
					return
				}
			}
		})
	}
	for range 4 {
		<-started
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	readers.Wait()
}

func TestAFileCutUnderUsIsAnErrorNotACrash(t *testing.T) {
	p := newPool(t, 8192)
	if err := os.Truncate(p.path, 4096); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 8192)
	if n, err := p.ReadAt(b, 0); n != 0 || !errors.Is(err, ErrFault) {
		t.Errorf("ReadAt = %d, %v, want ErrFault", n, err)
	}
	if n, err := p.WriteAt(b[:1], 4096); n != 0 || !errors.Is(err, ErrFault) {
		t.Errorf("WriteAt = %d, %v, want ErrFault", n, err)
	}
	if n, err := p.ReadAt(b[:4096], 0); n != 4096 || err != nil {
		t.Errorf("ReadAt of what is left = %d, %v", n, err)
	}
}

func TestAFaultElsewhereIsNotOurs(t *testing.T) {
	p, other := newPool(t, 4096), newPool(t, 4096)
	if err := os.Truncate(other.path, 0); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a fault in the caller's own memory was taken for one of the pool")
		}
	}()
	p.ReadAt(other.mem, 0)
}

func TestOpenRefusesWhatIsNoPool(t *testing.T) {
	dir := leaktest.ShmDir(t)
	if err := errors.Join(
		os.WriteFile(dir+"/empty", nil, 0o600), os.WriteFile(dir+"/short", make([]byte, 4096), 0o600),
		os.Symlink("short", dir+"/link"), unix.Mkfifo(dir+"/fifo", 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"none": "no such file", "empty": "is empty", "link": "too many levels of symbolic links", "fifo": "not a regular file",
		"short": "has 4 KiB, its layout says 8 KiB", ".": "not a regular file",
	} {
		p, err := Open(filepath.Join(dir, name), &Options{Size: 8192})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s) = %v, %v, want an error: %s", name, p, err, want)
		}
	}
}

package response

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A file that is read is not written over, also where a stream happens to have its name, or a link's.
func TestSpared(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "1")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("1", link); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Streams{"file": ToFile(path, info), "link": ToFile(link, info), "directory": ToDirectory(dir, info)} {
		var place *PlaceError
		var file *fs.PathError
		if err := s.Event(two()[1]); !errors.Is(err, ErrSpared) || !errors.As(err, &place) || !errors.As(err, &file) {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
	if got, err := os.ReadFile(path); string(got) != "mine" {
		t.Errorf("the file has %q, %v", got, err)
	}
}

// A longer file of the name is emptied first.
func TestCreateEmpties(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("what was there"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := create(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte("new"))
	f.Close()
	if got, err := os.ReadFile(path); string(got) != "new" {
		t.Errorf("the file has %q, %v", got, err)
	}
}

// A pipe is opened for writing alone: else this end would be a reader of it, so that nobody would notice that there is none.
func TestCreatePipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenFile(path, os.O_RDWR, 0) // so that create has not to wait
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := create(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_ACCMODE != unix.O_WRONLY {
		t.Errorf("the pipe is opened with %#o, %v", flags, err)
	}
}

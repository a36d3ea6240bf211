package disk

import (
	"bytes"
	"crypto/sha512"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func create(t *testing.T, o Options) (string, *Image) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk.img")
	h, err := Create(path, o)
	if err != nil {
		t.Fatal(err)
	}
	image, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if image.Header != h {
		t.Errorf("Open(Create()).Header = %+v, want %+v", image.Header, h)
	}
	return path, image
}

func digest(b []byte) string {
	sum := sha512.Sum512(b)
	return hex.EncodeToString(sum[:])
}

func TestCreate(t *testing.T) {
	_, a := create(t, Options{})
	_, b := create(t, Options{})
	if bytes.Equal(a.Block, b.Block) {
		t.Error("two images hold the same block")
	}
	if a.Header.SHA512 != digest(a.Block) {
		t.Error("the header does not announce the block on the disk")
	}
	if a.Answer != "" || !bytes.Equal(a.Copy, make([]byte, blockSize)) {
		t.Error("a new image holds an answer")
	}
	if a.Header.Rounds != 1 || a.Header.End != Verdict {
		t.Errorf("rounds %d, end %q, want 1, %q", a.Header.Rounds, a.Header.End, Verdict)
	}
}

func TestCreateReplacesAnAnswer(t *testing.T) {
	path, _ := create(t, Options{})
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("sha256=abc\n"), answerOffset); err != nil {
		t.Fatal(err)
	}
	if image, err := Open(path); err != nil || image.Answer != "abc" {
		t.Fatalf("Open() = %+v, %v, want answer %q", image, err, "abc")
	}
	if _, err := Create(path, Options{}); err != nil {
		t.Fatal(err)
	}
	if image, err := Open(path); err != nil || image.Answer != "" {
		t.Errorf("Open() = %+v, %v, want no answer", image, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("Create left %v beside the image", entries)
	}
}

func TestOptions(t *testing.T) {
	_, image := create(t, Options{ExpectOther: true, Panic: true, Rounds: 7})
	h := image.Header
	if h.SHA512 == digest(image.Block) || len(h.SHA512) != 128 {
		t.Errorf("the header announces %q, want the digest of another block", h.SHA512)
	}
	if h.End != Panic || h.Rounds != 7 {
		t.Errorf("end %q, rounds %d, want %q, 7", h.End, h.Rounds, Panic)
	}
}

func TestAddressesStayInTheScratchMemory(t *testing.T) {
	for range 1000 {
		h := newHeader(nil, Options{})
		for _, n := range h.numbers() {
			if n.key != "rounds" && *n.value%PageSize != 0 {
				t.Fatalf("%s = %#x is not a multiple of the page", n.key, *n.value)
			}
		}
		if h.Source < scratch || h.Source+h.BlockSize > h.Destination {
			t.Fatalf("source %#x overlaps the destination %#x or starts too low", h.Source, h.Destination)
		}
		if h.Destination+h.BlockSize > h.Script || h.Script+PageSize > scratch+scratchSize {
			t.Fatalf("destination %#x overlaps the script %#x or ends too high", h.Destination, h.Script)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	good := newHeader(nil, Options{})
	text := string(good.encode())
	for name, content := range map[string]string{
		"an empty file":   "",
		"another magic":   strings.Replace(text, magic, "cosim-pci-dma=2", 1),
		"a missing field": strings.Replace(text, "source=", "sauce=", 1),
		"a field of text": strings.Replace(text, "block_size=1", "block_size=x", 1),
		"no block size":   strings.Replace(text, "block_size=1048576", "block_size=0", 1),
		"a huge block":    strings.Replace(text, "block_size=1048576", "block_size=16777216", 1),
		"negative offset": strings.Replace(text, "copy_offset=", "copy_offset=-", 1),
		"no block":        text,
	} {
		path := filepath.Join(t.TempDir(), "disk.img")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil {
			t.Errorf("Open of %s = nil error", name)
		}
	}
}

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/examples/pci-dma/check/disk"
	"github.com/cosim-go/cosim/topology/layout"
)

// A finished is a session as a good run leaves it: an image with the guest's answer,
// a pool with the moved block, and layout.json.
type finished struct {
	runDir, image, pool string
	header              disk.Header
}

func finish(t *testing.T) finished {
	t.Helper()
	dir := t.TempDir()
	f := finished{runDir: dir, image: filepath.Join(dir, "disk.img"), pool: filepath.Join(dir, "m0.pool")}
	if err := run([]string{"prepare", f.image}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	image, err := disk.Open(f.image)
	if err != nil {
		t.Fatal(err)
	}
	f.header = image.Header
	sum := sha256.Sum256(image.Block)
	f.write(t, f.image, f.header.CopyOffset, image.Block)
	f.write(t, f.image, f.header.AnswerOffset, []byte("sha256="+hex.EncodeToString(sum[:])+"\n"))
	f.write(t, f.pool, f.header.Destination, image.Block)
	f.layout(t, layout.Layout{Version: layout.Version, PageSize: 4096, Machines: []layout.Machine{{
		ID: "m0", Pool: f.pool, Size: 128 * layout.MiB,
		Regions: []layout.Region{{Name: "memory", Size: 128 * layout.MiB}},
	}}})
	return f
}

// write puts bytes into a file, which is extended as needed.
func (f finished) write(t *testing.T, path string, offset int64, data []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(data, offset); err != nil {
		t.Fatal(err)
	}
	if path == f.pool {
		if err := file.Truncate(128 << 20); err != nil {
			t.Fatal(err)
		}
	}
}

func (f finished) layout(t *testing.T, l layout.Layout) {
	t.Helper()
	data, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.runDir, "layout.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// report is what verify prints and returns.
func (f finished) report() (string, error) {
	var out bytes.Buffer
	err := run([]string{"verify", f.runDir, f.image}, &out)
	return out.String(), err
}

func TestVerifyPasses(t *testing.T) {
	out, err := finish(t).report()
	if err != nil || strings.Count(out, "PASS ") != 4 || strings.Contains(out, "FAIL") {
		t.Errorf("verify = %v\n%s", err, out)
	}
}

func TestVerifyFindsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, f finished)
		want  string
	}{
		"a flipped byte": {func(t *testing.T, f finished) {
			if err := run([]string{"flip", f.runDir, f.image}, &bytes.Buffer{}); err != nil {
				t.Fatal(err)
			}
		}, "FAIL pool"},
		"an empty pool": {func(t *testing.T, f finished) {
			f.write(t, f.pool, f.header.Destination, make([]byte, f.header.BlockSize))
		}, "FAIL pool"},
		"the announced digest as answer": {func(t *testing.T, f finished) {
			f.write(t, f.image, f.header.AnswerOffset, []byte("sha256="+f.header.SHA512+"\n"))
		}, "FAIL answer"},
		"no answer": {func(t *testing.T, f finished) {
			f.write(t, f.image, f.header.AnswerOffset, make([]byte, disk.PageSize))
		}, "FAIL answer"},
		"another copy": {func(t *testing.T, f finished) {
			f.write(t, f.image, f.header.CopyOffset, []byte("another"))
		}, "FAIL copy"},
		"another block": {func(t *testing.T, f finished) {
			f.write(t, f.image, f.header.BlockOffset, []byte("another"))
		}, "FAIL disk"},
		"the image of the next run": {func(t *testing.T, f finished) {
			if err := run([]string{"prepare", f.image}, &bytes.Buffer{}); err != nil {
				t.Fatal(err)
			}
		}, "FAIL pool"},
	} {
		f := finish(t)
		c.spoil(t, f)
		if out, err := f.report(); err == nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: verify = %v, want an error and %q\n%s", name, err, c.want, out)
		}
	}
}

func TestVerifyNeedsASession(t *testing.T) {
	for name, l := range map[string]layout.Layout{
		"no machine":      {Version: layout.Version},
		"another version": {Version: 99, Machines: []layout.Machine{{Pool: "/x"}}},
		"no session":      {Version: layout.Version, Machines: []layout.Machine{{ID: "m0"}}},
		"no memory":       {Version: layout.Version, Machines: []layout.Machine{{ID: "m0", Pool: "/x"}}},
		"little memory": {Version: layout.Version, Machines: []layout.Machine{{ID: "m0", Pool: "/x",
			Regions: []layout.Region{{Name: "memory", Size: 64 * layout.MiB}}}}},
		"no pool": {Version: layout.Version, Machines: []layout.Machine{{ID: "m0", Pool: "/nowhere/m0.pool",
			Regions: []layout.Region{{Name: "memory", Size: 128 * layout.MiB}}}}},
	} {
		f := finish(t)
		f.layout(t, l)
		if out, err := f.report(); err == nil {
			t.Errorf("%s: verify = nil error\n%s", name, out)
		}
	}
}

func TestPrepareAsARecipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b.img")
	t.Setenv("COSIM_IMAGE", path)
	if err := run([]string{"prepare"}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.Open(path); err != nil {
		t.Error(err)
	}
}

func TestWrongUsage(t *testing.T) {
	t.Setenv("COSIM_IMAGE", "")
	for _, args := range [][]string{
		{}, {"help"}, {"prepare"}, {"prepare", "a", "b"}, {"prepare", "--rounds", "0", "a"}, {"prepare", "--fast", "a"},
		{"verify"}, {"verify", "a"}, {"flip", "a", "b", "c"},
	} {
		if err := run(args, &bytes.Buffer{}); !errors.Is(err, errUsage) {
			t.Errorf("run(%q) = %v, want wrong usage", args, err)
		}
	}
}

package disk

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/runtime/internal/realtool"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/topology/layout"
)

func qemuImg(t *testing.T) string {
	t.Helper()
	return realtool.Path(t, "qemu-img")
}

// newDisk makes a backing file of 1 MiB with a name that is hard on command lines.
func newDisk(t *testing.T, format string) *plan.Disk {
	t.Helper()
	tool, dir := qemuImg(t), t.TempDir()
	d := &plan.Disk{ID: "boot", Target: dir + "/boot.qcow2", Backing: dir + "/json:a,b c.img", Format: format, Mode: "overlay", Tool: tool}
	if out, err := exec.Command(tool, "create", "-q", "-f", format, d.Backing, "1M").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return d
}

type imageInfo struct {
	Format        string `json:"format"`
	Size          int64  `json:"virtual-size"`
	Backing       string `json:"backing-filename"`
	BackingFormat string `json:"backing-filename-format"`
}

func info(t *testing.T, path string) (i imageInfo) {
	t.Helper()
	out, err := exec.Command(qemuImg(t), "info", "--output=json", path).Output()
	if err == nil {
		err = json.Unmarshal(out, &i)
	}
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Requirement: X5
func TestOverlayLiesOverItsBackingFile(t *testing.T) {
	for _, format := range []string{"raw", "qcow2"} {
		for size, want := range map[layout.Size]int64{0: 1 << 20, layout.MiB: 1 << 20, 3 * layout.MiB: 3 << 20} {
			d := newDisk(t, format)
			d.Size = size
			if err := CreateOverlay(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			if got := info(t, d.Target); got != (imageInfo{"qcow2", want, d.Backing, format}) {
				t.Errorf("overlay over %s with size %d: %+v", format, size, got)
			}
			if st, err := os.Lstat(d.Target); err != nil || st.Mode().Perm() != 0o600 {
				t.Errorf("mode = %v, %v, want 0600", st.Mode(), err)
			}
		}
	}
}

func TestOverlayNeverOverwrites(t *testing.T) {
	d := newDisk(t, "raw")
	if err := os.WriteFile(d.Target, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CreateOverlay(t.Context(), d); !errors.Is(err, fs.ErrExist) {
		t.Errorf("CreateOverlay = %v, want fs.ErrExist", err)
	}
	if text, _ := os.ReadFile(d.Target); string(text) != "mine" {
		t.Errorf("the file holds %q", text)
	}
	target := d.Target
	d.Target = filepath.Join(filepath.Dir(target), "link")
	if err := os.Symlink(target, d.Target); err != nil {
		t.Fatal(err)
	}
	if err := CreateOverlay(t.Context(), d); !errors.Is(err, fs.ErrExist) {
		t.Errorf("CreateOverlay over a link = %v, want fs.ErrExist", err)
	}
}

func TestAnOverlayThatFailsLeavesNoFile(t *testing.T) {
	gone := func(d *plan.Disk) { os.Remove(d.Backing) }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx    context.Context
		change func(*plan.Disk)
		want   string
	}{
		"no backing file":        {t.Context(), gone, "Could not open"},
		"no qemu-img":            {t.Context(), func(d *plan.Disk) { d.Tool = "/nonexistent" }, "starting /nonexistent"},
		"stopped":                {ctx, func(*plan.Disk) {}, "canceled"},
		"smaller than its base":  {t.Context(), func(d *plan.Disk) { d.Size = 4096 }, `size 4 KiB of disk "boot" is smaller than its backing file, which holds 1 MiB`},
		"not of the format said": {t.Context(), func(d *plan.Disk) { d.Format = "qcow2" }, "is not a qcow2 image"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t, "raw")
			tt.change(d)
			if err := CreateOverlay(tt.ctx, d); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("CreateOverlay = %v, want an error: %s", err, tt.want)
			}
			if _, err := os.Lstat(d.Target); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("an overlay is left: %v", err)
			}
		})
	}
}

func TestCheckSizeWaitsForTheBackingFile(t *testing.T) {
	d := &plan.Disk{ID: "boot", Target: "/o", Backing: t.TempDir() + "/later", Format: "qcow2", Size: 4096}
	if err := CheckSize(d); err != nil {
		t.Errorf("CheckSize without a backing file = %v", err)
	}
	d.Target = d.Backing
	if NeedsOverlay(d) {
		t.Error("a disk that opens its own file needs no overlay")
	}
}

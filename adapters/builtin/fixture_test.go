package builtin_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
)

// seabios is a firmware that QEMU's packages bring along.
const seabios = "/usr/share/seabios/bios-256k.bin"

// shortDir makes a directory whose path is short enough for sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ca")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// makeFiles makes what the command lines of a machine name: directories, the pool, disks,
// and what a guest boots.
func makeFiles(t *testing.T, m *adapters.Machine, processes []adapters.Command) {
	t.Helper()
	makeSparse(t, m.Layout.Pool, int64(m.Layout.Size))
	for _, c := range processes {
		for _, f := range c.Files {
			makeSparse(t, f.Path, int64(f.Size))
		}
	}
	for _, path := range []string{m.SerialLog, m.SerialSocket, m.QMP} {
		makeDir(t, path)
	}
	for _, d := range m.Model.Disks() {
		makeDisk(t, m, d)
	}
	if b := m.Model.Vhost.Boot; b != nil {
		makeBoot(t, m.Files, b)
	}
}

func makeDir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
}

func makeSparse(t *testing.T, path string, size int64) {
	t.Helper()
	makeDir(t, path)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
}

// makeDisk makes the file of a disk, and the overlay where the process opens one.
func makeDisk(t *testing.T, m *adapters.Machine, d *topology.Disk) {
	t.Helper()
	base, opened := m.Files.Resource(d.File.Path.Name), m.Disks[d.ID]
	makeDir(t, base)
	makeDir(t, opened.Path)
	qemuImg(t, "create", "-q", "-f", d.Format, base, "1M")
	if opened.Path != base {
		qemuImg(t, "create", "-q", "-f", opened.Format, "-F", d.Format, "-b", base, opened.Path)
	}
}

func qemuImg(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("qemu-img", args...).CombinedOutput(); err != nil {
		t.Fatalf("qemu-img %q: %v\n%s", args, err, out)
	}
}

func makeBoot(t *testing.T, files adapters.Files, b *topology.Boot) {
	t.Helper()
	write := func(a *topology.Artifact, data []byte) {
		if a != nil {
			path := files.Resource(a.Path.Name)
			makeDir(t, path)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	firmware, err := os.ReadFile(seabios)
	if err != nil {
		t.Fatal(err)
	}
	write(b.Firmware, firmware)
	write(b.Kernel, bzImage())
	write(b.Initrd, make([]byte, 512))
}

// bzImage is as much of a Linux kernel as QEMU looks at: the setup header of the boot
// protocol (Linux Documentation/arch/x86/boot.rst).
func bzImage() []byte {
	image := make([]byte, 16<<10)
	image[0x1f1] = 4 // setup sectors
	copy(image[0x202:], "HdrS")
	binary.LittleEndian.PutUint16(image[0x206:], 0x20c) // version of the protocol
	image[0x211] = 1                                    // loaded high
	binary.LittleEndian.PutUint32(image[0x22c:], 0x7fffffff)
	return image
}

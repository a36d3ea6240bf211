package resources_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/adapterstest"
	"github.com/cosim-go/cosim/adapters/builtin"
	"github.com/cosim-go/cosim/topology"
)

// patience bounds what real processes may take, on a machine that is busy with other things.
const patience = 2 * time.Minute

// Every QEMU device of the library runs in a process of its own, and the firmware of one
// machine finds them all.
//
// Requirements: T9, X6
func TestQEMUDevicesStart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts QEMU")
	}
	root, err := os.MkdirTemp("/tmp", "cr") // short enough for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	model, _ := load(t, library(t, allDevices(t)), "test.yaml")
	machines, err := adapterstest.Machines(model, adapterstest.Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	m := machines[0]
	processes, list, err := adapterstest.Render(m, func(k *topology.Kind) adapters.Adapter {
		return builtin.For(builtin.Table(), k)
	})
	if err != nil || len(list) > 0 {
		t.Fatal(err, list)
	}
	makeFiles(t, m)
	running := startAll(t, processes)
	waitForFirmware(t, m)
	for _, p := range running {
		if p.ended() {
			t.Errorf("%s ended by itself, %v:\n%s", p.id, p.cmd.ProcessState, p.output)
		}
	}
}

// allDevices is a machine with every QEMU device of the library, those with disks on one.
func allDevices(t *testing.T) string {
	t.Helper()
	var imports, devices strings.Builder
	for _, name := range files(t) {
		dir, base := path.Split(name)
		if !strings.HasPrefix(dir, "devices/") || dir == "devices/gpu/" {
			continue
		}
		device := strings.TrimSuffix(base, ".yaml")
		fmt.Fprintf(&imports, "  - %s\n", name)
		fmt.Fprintf(&devices, "      - {id: %s, use: %s%s}\n", device, device, disk(dir, device))
	}
	return "version: 1\nimports:\n  - vhosts/qemu.yaml\n" + imports.String() +
		"machines:\n  - id: m0\n    vhost: {use: vhost-x86, memory: 128M}\n    devices:\n" + devices.String()
}

func disk(dir, device string) string {
	bus := "scsi"
	switch {
	case dir != "devices/storage/" || device == "sdhci-pci":
		return ""
	case device == "nvme" || device == "virtio-blk-pci":
		bus = "drive"
	}
	return fmt.Sprintf(", disks: [{id: %s, path: %s.raw, format: raw, mode: direct, bus: %s}]", device, device, bus)
}

func makeFiles(t *testing.T, m *adapters.Machine) {
	t.Helper()
	sizes := map[string]int64{m.Layout.Pool: int64(m.Layout.Size), m.SerialLog: 0}
	for _, d := range m.Disks {
		sizes[d.Path] = 1 << 20
	}
	for name, size := range sizes {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
}

// startAll starts the devices and then their vhost, joined by socket pairs.
func startAll(t *testing.T, processes []adapterstest.Process) []*process {
	t.Helper()
	var running []*process
	ends := map[string]*os.File{}
	defer func() {
		for _, f := range ends {
			f.Close()
		}
	}()
	for _, p := range processes {
		var inherited []*os.File
		for _, fd := range p.Command.FDs {
			if far, ok := ends[fd.Channel]; ok {
				inherited = append(inherited, far)
				continue
			}
			pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			near := os.NewFile(uintptr(pair[0]), "near")
			defer near.Close()
			ends[fd.Channel] = os.NewFile(uintptr(pair[1]), "far")
			inherited = append(inherited, near)
		}
		running = append(running, start(t, p, inherited))
	}
	return running
}

// A process is a program that was started by the test.
type process struct {
	id     string
	cmd    *exec.Cmd
	output *bytes.Buffer // to be read when it has ended
	done   chan struct{} // closed when it has
}

// start starts a process. The test's end kills what is left of it.
func start(t *testing.T, from adapterstest.Process, inherited []*os.File) *process {
	t.Helper()
	p := &process{from.ID, exec.Command(from.Command.Program.Name, from.Command.Args...), &bytes.Buffer{}, make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.ExtraFiles = p.output, p.output, inherited
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(p.done); _ = p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.done })
	return p
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/qmp"
	"github.com/cosim-go/cosim/runtime/session"
)

// Requirement: V5
func TestMostDevicesOfAVhost(t *testing.T) {
	topology := func(count int) string {
		return fmt.Sprintf(`
-- many.yaml --
version: 1
machines:
  - id: m0
    vhost: {kind: qemu-vhost, memory: 64M, params: {accel: tcg, cpu: qemu64}}
    devices: [{id: lsi, kind: qemu-device, count: %d, params: {device: lsi53c895a}}]
`, count)
	}
	t.Run("65 are too many", func(t *testing.T) {
		w := newWorkspace(t, topology(65))
		_, stderr := w.want(exitTopology, "validate", "many.yaml")
		if want := "many.yaml:5:15: the machine has 65 devices, and a vhost of kind \"qemu-vhost\" takes 64\n"; stderr != want {
			t.Errorf("validate prints %q, want %q", stderr, want)
		}
	})
	t.Run("64 run", func(t *testing.T) {
		needQEMU(t)
		w := newWorkspace(t, topology(64))
		p := w.start("run", "many.yaml")
		p.await("m0/vhost: ready after ")
		monitor := w.monitor(w.path(".cosim/many/m0/qmp.sock"))
		ids := make([]string, 64)
		for i := range ids {
			ids[i] = fmt.Sprintf("lsi%d", i)
		}
		if err := poll(func() error { return wantDevices(monitor, ids...) }); err != nil {
			t.Error(err)
		}
		if _, err := monitor.Execute(context.Background(), "quit", nil); err != nil {
			t.Error(err)
		}
		monitor.Close()
		if code := p.wait(); code != 0 {
			t.Errorf("cosim = %d after quit, want 0\n%s", code, p.stderr)
		}
	})
}

// A pciDevice is what query-pci tells of a device (QEMU qapi/pci.json).
type pciDevice struct {
	ID      string `json:"qdev_id"`
	Regions []struct {
		BAR     int   `json:"bar"`
		Address int64 `json:"address"`
	} `json:"regions"`
	Bridge *struct {
		Devices []pciDevice `json:"devices"`
	} `json:"pci_bridge"`
}

// wantDevices wants devices, each with the three BARs of an LSI 53C895A at an address: an
// unassigned one has the address -1.
func wantDevices(monitor *qmp.Client, ids ...string) error {
	answer, err := monitor.Execute(context.Background(), "query-pci", nil)
	if err != nil {
		return err
	}
	var buses []struct{ Devices []pciDevice }
	if err := json.Unmarshal(answer, &buses); err != nil {
		return err
	}
	var found []string
	var collect func([]pciDevice)
	collect = func(devices []pciDevice) {
		for _, d := range devices {
			assigned := len(d.Regions) == 3 && d.Regions[0].Address > 0 && d.Regions[1].Address > 0 && d.Regions[2].Address > 0
			if assigned {
				found = append(found, d.ID)
			}
			if d.Bridge != nil {
				collect(d.Bridge.Devices)
			}
		}
	}
	for _, b := range buses {
		collect(b.Devices)
	}
	for _, id := range ids {
		if !slices.Contains(found, id) {
			return fmt.Errorf("query-pci has no %s with its BARs assigned; it has %q", id, found)
		}
	}
	return nil
}

// Machines whose names are those of files and of processes of a session.
//
// Requirements: V4, X2
func TestMachinesNamedLikeFilesOfTheSession(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, `
-- names.yaml --
version: 1
kinds:
  sim: {role: vhost, program: sh, args: [-c, 'test -f "$1" && echo "PASS {{machine.id}}"', sim, "{{pool.path}}"]}
machines:
  - {id: lock, vhost: {kind: sim, memory: 1M, expect: {pass: ^PASS lock$}}}
  - {id: plan, vhost: {kind: sim, memory: 1M, expect: {pass: ^PASS plan$}}}
  - {id: vhost, vhost: {kind: sim, memory: 1M, expect: {pass: ^PASS vhost$}}}
  - {id: layout, vhost: {kind: sim, memory: 1M, expect: {pass: ^PASS layout$}}}
  - {id: session, vhost: {kind: sim, memory: 1M, expect: {pass: ^PASS session$}}}
`)
	w.want(0, "run", "names.yaml")
	w.want(0, "clean", "names")
	if _, err := os.Lstat(w.path(".cosim/names")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("clean leaves the run directory: %v", err)
	}
}

// The longest identifiers in a workspace so deep that no socket of it has a path that is
// short enough: sockets go to a directory of their own, and all runs.
//
// Requirements: V1, X2
func TestLongestIdentifiers(t *testing.T) {
	needQEMU(t)
	for name, runtimeDir := range map[string]string{"sockets in /tmp": "", "sockets in XDG_RUNTIME_DIR": "run"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			long := func(stem string) string {
				return stem + strings.Repeat("-0123456789_abcdef", 3)[:session.MaxName-len(stem)]
			}
			w := newWorkspace(t, "")
			w.dir = filepath.Join(w.dir, strings.Repeat("deep/", 20))
			watchLeftovers(w.dir)
			t.Cleanup(func() { wantNothingLeft(t, w.dir) })
			w.write("long.yaml", fmt.Sprintf(`version: 1
machines:
  - id: %s
    vhost: {kind: qemu-vhost, memory: 64M, params: {accel: tcg, cpu: qemu64}, disks: [{id: %s, path: disk.img, format: raw}]}
    devices:
      - {id: %s, kind: qemu-device, params: {device: lsi53c895a}, disks: [{id: %s, path: disk.img, format: raw, bus: scsi}]}
      - {id: %s, kind: qemu-device, params: {device: lsi53c895a}}
`, long("machine"), long("disk-a"), long("dev0"), long("disk-b"), long("dev1")))
			w.write("disk.img", strings.Repeat("\x00", 1<<20))
			if runtimeDir != "" {
				runtimeDir = filepath.Join(w.home, runtimeDir)
				if err := os.Mkdir(runtimeDir, 0o700); err != nil {
					t.Fatal(err)
				}
				w.env = append(w.env, "XDG_RUNTIME_DIR="+runtimeDir)
			} else {
				runtimeDir = "/tmp"
			}
			args := []string{"run", "--name", long("session"), "long.yaml"}
			var p plan.Plan
			stdout, _ := w.want(0, append(args, "--dry-run")...)
			w.readJSON("", stdout, &p)
			if dir := p.Launch.Session.SocketDir; filepath.Dir(dir) != runtimeDir {
				t.Errorf("sockets are in %s, want them in %s", dir, runtimeDir)
			}
			run := w.start(args...)
			run.await(long("machine") + "/vhost: ready after ")
			monitor := w.monitor(p.Launch.Process(long("machine") + "/vhost").Ready.QMP)
			if err := poll(func() error { return wantDevices(monitor, long("dev0"), long("dev1")) }); err != nil {
				t.Error(err)
			}
			monitor.Close()
			run.signal(syscall.SIGTERM)
			if code := run.wait(); code != exitTerm {
				t.Errorf("cosim = %d, want %d\n%s", code, exitTerm, run.stderr)
			}
			if left, _ := filepath.Glob(filepath.Join(runtimeDir, "cosim-"+session.Hash(p.Launch.Session.RunDir)+"*")); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

package builtin_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/adapterstest"
)

// Requirements: V5, X6
func TestSixtyFourProxies(t *testing.T) {
	needQEMU(t)
	m, running, q := startOne(t, `
version: 1
machines:
  - id: m0
    vhost:
      kind: qemu-vhost
      memory: 64M
      disks: [{id: dev0, path: a.raw, format: raw, mode: direct}]
    devices:
      - {id: dev, kind: qemu-device, count: 64, params: {device: pci-testdev}}
`)
	want := []string{"disk.dev0"}
	for _, d := range m.Model.Devices {
		want = append(want, d.ID)
	}
	if len(want) != 65 {
		t.Fatalf("%d disks and devices, want 65", len(want))
	}
	waitForBARs(t, q, want)
	q.quit()
	for _, p := range running {
		if status := p.exit(t); status != 0 {
			t.Errorf("%s ended with status %d; its output:\n%s", p.id, status, p.output)
		}
	}
}

// Disks are placed like devices over vfio-user, which QEMU 7.2 does not have: PCI Express
// devices straight on the root bus and behind root ports.
//
// Requirement: X6
func TestSixtyFourExpressDevices(t *testing.T) {
	needQEMU(t)
	var disks strings.Builder
	var want []string
	for i := range 64 {
		fmt.Fprintf(&disks, "        - {id: d%d, path: a.raw, format: raw, readonly: true}\n", i)
		want = append(want, fmt.Sprintf("disk.d%d", i))
	}
	_, _, q := startOne(t, `
version: 1
machines:
  - id: m0
    vhost:
      kind: qemu-vhost
      memory: 64M
      disks:
`+disks.String())
	waitForBARs(t, q, want)
	q.quit()
}

// startOne starts the machine of a topology, its guest running, and connects to the
// vhost's monitor.
func startOne(t *testing.T, text string) (*adapters.Machine, []*process, *monitor) {
	t.Helper()
	root := shortDir(t)
	machines, err := adapterstest.Machines(loadModel(t, text), adapterstest.Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	m := machines[0]
	processes := render(t, m)
	var commands []adapters.Command
	for _, p := range processes {
		commands = append(commands, p.Command)
	}
	makeFiles(t, m, commands)
	pairs := channels{}
	defer pairs.close()
	var running []*process
	for _, p := range processes {
		running = append(running, start(t, p.ID, p.Command.Program.Name, p.Command.Args, pairs.ends(t, p.Command.FDs)))
	}
	return m, running, connect(t, running[len(running)-1], m.QMP)
}

func render(t *testing.T, m *adapters.Machine) []adapterstest.Process {
	t.Helper()
	processes, list, err := adapterstest.Render(m, find)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) > 0 {
		t.Fatal(list)
	}
	return processes
}

// waitForBARs waits until the firmware has given every BAR of the devices an address. What
// is behind a bridge shows only when the firmware has numbered its bus.
func waitForBARs(t *testing.T, q *monitor, ids []string) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for {
		found := q.queryPCI(t)
		var lacking []string
		for _, id := range ids {
			if d, ok := found[id]; !ok {
				lacking = append(lacking, id+" is not listed")
			} else if !d.assigned() {
				lacking = append(lacking, d.String()+" has a BAR without address")
			}
		}
		if len(lacking) == 0 {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("of %d devices %d are not there:\n%s", len(ids), len(lacking), strings.Join(lacking, "\n"))
		case <-tick.C:
		}
	}
}

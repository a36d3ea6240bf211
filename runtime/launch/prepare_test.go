package launch

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/runtime/disk"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/topology"
)

// withDisk adds a disk to the plan's machine.
func withDisk(t *testing.T, p *plan.Plan, mode topology.DiskMode, tool string) {
	t.Helper()
	file := p.Launch.Session.Workspace + "/disk.raw"
	if err := os.WriteFile(file, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	d := plan.Disk{ID: "d", Owner: "vhost", Target: file, Backing: file, Format: "raw", Mode: mode, Tool: tool}
	d.Lock = plan.Lock{Path: plan.LockPath(p.Launch.Env.DiskLockDir, file), Mode: "exclusive"}
	if mode != topology.Direct {
		d.Target, d.Lock.Mode = p.Launch.Session.Paths().Overlay("m", "d"), "shared"
	}
	p.Launch.Machines[0].Disks = append(p.Launch.Machines[0].Disks, d)
	p.Images = append(p.Images, plan.Image{Path: file, Format: "raw", UsedBy: []string{"m/d"}, State: plan.Ready})
}

// Requirements: X3, X5. A disk that is written to belongs to its session while it runs,
// and to nobody afterwards.
func TestDisksAreFreeAfterTheEnd(t *testing.T) {
	p := newPlan(t, "true")
	withDisk(t, p, topology.Direct, "")
	held := false
	result, err := Run(t.Context(), p, &Options{Observe: func(e Event) {
		held = held || e.Process != nil && len(disk.Probe(p.Launch.Machines)) == 1
	}})
	if err != nil || result.ExitCode != ExitFine {
		t.Fatalf("Run = %+v, %v", result, err)
	}
	if !held {
		t.Error("the disk was free while the session ran")
	}
	if errs := disk.Probe(p.Launch.Machines); errs != nil {
		t.Errorf("after the end the disk is not free: %v", errs)
	}
}

// Requirement: X5. An overlay that cannot be made is a session that failed, of which
// nothing but the records stays: no pool, no lock, no process.
func TestAnOverlayThatFailsUndoesThePools(t *testing.T) {
	p := newPlan(t, "true")
	withDisk(t, p, topology.Overlay, "/bin/false")
	started := false
	result, err := Run(t.Context(), p, &Options{Observe: func(e Event) { started = started || e.Process != nil }})
	if err == nil || ExitCode(err) != ExitFailed || !strings.Contains(err.Error(), `overlay of disk "d"`) {
		t.Fatalf("Run = %+v, %v, want an error about the overlay", result, err)
	}
	if started {
		t.Error("a process was started")
	}
	if _, err := os.Lstat(p.Launch.Session.PoolDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the pool directory is there: %v", err)
	}
	if errs := disk.Probe(p.Launch.Machines); errs != nil {
		t.Errorf("the disk is not free: %v", errs)
	}
	if got := files(t, p); slices.ContainsFunc(got, func(name string) bool { return strings.HasSuffix(name, ".qcow2") }) {
		t.Errorf("an overlay is left: %q", got)
	}
}

package preflight

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/runtime/disk"
	"github.com/cosim-go/cosim/runtime/internal/leaktest"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
)

func TestMain(m *testing.M) {
	leaktest.Main(m, map[string]func(){"busy": helperBusy})
}

// helperBusy runs the session of the test's plan, and uses its disk, from elsewhere.
func helperBusy() {
	p := newPlan(os.Args[1])
	l := session.Layout{Name: "s", RunDir: p.Launch.Session.RunDir, Workspace: p.Launch.Session.Workspace}
	_, err := session.Acquire(l)
	if err == nil {
		_, err = disk.Acquire(p.Launch.Machines, "other")
	}
	fmt.Println(err)
	leaktest.UntilTold()
}

// newPlan plans a session in a directory with nothing wrong about it.
func newPlan(dir string) *plan.Plan {
	run := dir + "/ws/.cosim/s"
	base := dir + "/base.raw"
	return &plan.Plan{Launch: plan.Launch{
		Session: plan.Session{Name: "s", RunDir: run, PoolDir: dir + "/pools", SocketDir: run, Workspace: dir + "/ws"},
		Env:     plan.Env{DiskLockDir: dir + "/locks"},
		Machines: []plan.Machine{{
			ID: "m0", Placement: topology.LocalAgent,
			Pool: plan.Pool{Path: dir + "/pools/m0.pool", Size: 4096, Regions: []layout.Region{{Name: "memory", Size: 4096}}},
			Disks: []plan.Disk{{
				ID: "boot", Backing: base, Target: run + "/m0/boot.qcow2", Format: "raw", Mode: topology.Overlay,
				Lock: plan.Lock{Path: plan.LockPath(dir+"/locks", disk.Resolve(base)), Mode: "exclusive"},
			}},
		}},
	}}
}

func prepare(t *testing.T) (dir string, p *plan.Plan) {
	t.Helper()
	dir = leaktest.ShmDir(t)
	if err := errors.Join(os.Mkdir(dir+"/ws", 0o755), os.WriteFile(dir+"/base.raw", make([]byte, 8192), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir, newPlan(dir)
}

// snapshot lists everything below a directory with its size and time.
func snapshot(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		list = append(list, fmt.Sprint(path, info.Mode(), info.Size(), info.ModTime()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// check checks a plan, and that this leaves everything as it was.
func check(t *testing.T, dir string, p *plan.Plan, opts *Options) Report {
	t.Helper()
	before := snapshot(t, dir)
	r := Check(t.Context(), p, opts)
	if after := snapshot(t, dir); !slices.Equal(before, after) {
		t.Errorf("Check changed\n%s\nto\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	return r
}

// Requirement: X5
func TestAHostThatHasEverything(t *testing.T) {
	dir, p := prepare(t)
	wantReport(t, check(t, dir, p, nil), nil, nil)
}

// Requirement: X5
func TestEverythingThatIsWrongIsSaidAtOnce(t *testing.T) {
	dir, p := prepare(t)
	busy := leaktest.Helper(t, "busy", nil, dir)
	busy.Want("<nil>")
	m := &p.Launch.Machines[0]
	m.Pool.Size = layout.Size(1) << 60
	m.Disks[0].Size = 4096
	p.Launch.Session.PoolDir = dir + "/none/pools"
	r := check(t, dir, p, nil)
	pid := fmt.Sprintf("(pid %d)", busy.Cmd.Process.Pid)
	wantReport(t, r, []string{
		`pool directory: "pools" is to be made in`,
		`session "s" is running in ` + p.Launch.Session.RunDir + " " + pid,
		`pool of machine "m0" needs 1024 PiB, /dev/shm holds`,
		`pool of machine "m0" needs 1024 PiB, this host has`,
		`disk "m0/boot" uses ` + dir + `/base.raw, which is in use by session "other" ` + pid,
		`machine "m0": size 4 KiB of disk "boot" is smaller than its backing file, which holds 8 KiB`,
	}, nil)
	for _, problem := range r.Problems {
		if problem.Hint == "" {
			t.Errorf("%q has no hint", problem.Message)
		}
	}
	if r := check(t, dir, p, &Options{Overcommit: true}); len(r.Problems) != 4 {
		t.Errorf("overcommitted: %q, want no problem with the pool", r.Problems)
	}
}

func TestImagesThatAreYetToBeBuiltHaveNoSize(t *testing.T) {
	dir, p := prepare(t)
	p.Launch.Machines[0].Disks[0].Size = 4096
	p.Images = []plan.Image{{Path: dir + "/base.raw", State: plan.Stale}}
	wantReport(t, check(t, dir, p, nil), nil, nil)
}

// Requirement: V6
func TestRemoteMachinesNeedNothingHere(t *testing.T) {
	dir, p := prepare(t)
	m := &p.Launch.Machines[0]
	m.Placement, m.Pool.Size, m.Disks[0].Size, m.Disks[0].Lock = "elsewhere", 1<<60, 4096, plan.Lock{}
	wantReport(t, check(t, dir, p, nil), nil, nil)
}

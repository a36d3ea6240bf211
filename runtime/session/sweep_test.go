package session_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosim-go/cosim/runtime/execenv"
	"github.com/cosim-go/cosim/runtime/internal/leaktest"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
)

// A stage is a session's directories with everything that one can leave behind.
type stage struct {
	t    *testing.T
	root string
	lock *session.Lock
	l    session.Layout
	plan *plan.Plan
}

func newStage(t *testing.T) *stage {
	t.Helper()
	root := leaktest.ShmDir(t)
	l, err := session.NewLayout(execenv.ExecEnv{WorkDir: root, ShmDir: root}, session.Options{Name: "s"})
	if err != nil {
		t.Fatal(err)
	}
	l.SocketDir = root + "/cosim-" + l.Hash
	k, err := session.Acquire(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Release() })
	s := &stage{t: t, root: root, lock: k, l: l}
	s.plan = &plan.Plan{Launch: plan.Launch{
		Version: plan.Version,
		Session: plan.Session{Name: l.Name, RunDir: l.RunDir, PoolDir: l.PoolDir, SocketDir: l.SocketDir, Workspace: l.Workspace},
		Machines: []plan.Machine{{
			ID: "m0",
			Pool: plan.Pool{Path: l.Pool("m0"), Size: 4096, Regions: []layout.Region{
				{Name: "memory", Size: 4096, File: root + "/cosim-" + l.Hash + "-m0"},
			}},
			Disks: []plan.Disk{
				{ID: "boot", Target: l.Overlay("m0", "boot"), Backing: root + "/base", Mode: topology.Overlay},
				{ID: "data", Target: root + "/data", Backing: root + "/data", Mode: topology.Direct},
			},
		}},
	}}
	s.must(k.MakeMachineDirs([]string{"m0"}))
	s.must(k.MakePoolDir())
	s.must(k.MakeSocketDir())
	s.must(session.WriteLayout(l.LayoutFile(), layout.Layout{Version: 1}))
	state, err := session.NewState(l, "s.yaml", time.Now())
	s.must(err)
	s.must(session.WriteState(l.StateFile(), state))
	s.writePlan()
	for _, path := range []string{
		l.Pool("m0"), l.Overlay("m0", "boot"), root + "/cosim-" + l.Hash + "-m0", root + "/base", root + "/data",
		l.VhostLog("m0"), l.SerialLog("m0"), l.DeviceLog("m0", "gpu-0"),
	} {
		s.file(path)
	}
	for _, path := range []string{l.MachineDir("m0") + "/qmp.sock", l.MachineDir("m0") + "/gpu-0.qmp", l.SocketDir + "/3.sock"} {
		s.socket(path)
	}
	return s
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) file(path string) { s.must(os.WriteFile(path, []byte("x"), 0o600)) }

// socket makes a stale socket: one that nobody listens at, as SIGKILL leaves it.
func (s *stage) socket(path string) {
	s.t.Helper()
	short := filepath.Join(s.root, "q") // the run directory may be too deep to bind in
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	s.must(err)
	l.SetUnlinkOnClose(false)
	s.must(l.Close())
	s.must(os.Rename(short, path))
}

func (s *stage) writePlan() {
	s.must(session.WriteFile(s.l.PlanFile(), func(w io.Writer) error { return s.plan.WriteJSON(w) }))
}

func (s *stage) sweep(opts session.SweepOptions) session.Swept {
	s.t.Helper()
	swept, err := s.lock.Sweep(opts)
	if err != nil {
		s.t.Errorf("Sweep = %v", err)
	}
	return swept
}

// tree lists all files below the stage, relative to it.
func (s *stage) tree() []string {
	var names []string
	s.must(filepath.WalkDir(s.root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(s.root, path)
		name = strings.ReplaceAll(name, s.l.Hash, "HASH")
		if name != "." {
			names = append(names, name)
		}
		return err
	}))
	return names
}

func (s *stage) want(names ...string) {
	s.t.Helper()
	got := s.tree()
	slices.Sort(got)
	slices.Sort(names)
	if !slices.Equal(got, names) {
		s.t.Errorf("left are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(names, "\n"))
	}
}

var records = []string{
	".cosim", ".cosim/.gitignore", ".cosim/s", ".cosim/s/session.lock", ".cosim/s/session.json", ".cosim/s/plan.json", ".cosim/s/layout.json",
	".cosim/s/m0", ".cosim/s/m0/vhost.log", ".cosim/s/m0/serial.log", ".cosim/s/m0/gpu-0.log",
}

// Requirement: X5
func TestSweepLeavesTheRecords(t *testing.T) {
	s := newStage(t)
	swept := s.sweep(session.SweepOptions{})
	s.want(append([]string{"base", "data"}, records...)...)
	if len(swept.Removed) != 9 || !slices.Contains(swept.Removed, s.l.Pool("m0")) || swept.Empty() {
		t.Errorf("Removed = %q, want the nine files and directories", swept.Removed)
	}
	if again := s.sweep(session.SweepOptions{}); !again.Empty() {
		t.Errorf("a second sweep removed %+v", again)
	}
}

// Requirement: X5
func TestSweepKeepsMemoryAndOverlaysWhereAsked(t *testing.T) {
	s := newStage(t)
	s.sweep(session.SweepOptions{Keep: true})
	s.want(append([]string{
		"base", "data", "cosim-HASH-m0", "cosim-s-HASH", "cosim-s-HASH/m0.pool", ".cosim/s/memory", ".cosim/s/m0/boot.qcow2",
	}, records...)...)
}

func TestSweepOfTheRecordsLeavesNothing(t *testing.T) {
	s := newStage(t)
	s.must(os.Mkdir(s.l.OutDir("m0", "gpu-0"), 0o700))
	s.sweep(session.SweepOptions{Records: true})
	s.want("base", "data", ".cosim", ".cosim/.gitignore")
}

func TestSweepOfTheRecordsKeepsWhatADeviceWrote(t *testing.T) {
	s := newStage(t)
	s.must(os.Mkdir(s.l.OutDir("m0", "gpu-0"), 0o700))
	s.file(s.l.OutDir("m0", "gpu-0") + "/stats.txt")
	s.sweep(session.SweepOptions{Records: true})
	s.want("base", "data", ".cosim", ".cosim/.gitignore", ".cosim/s", ".cosim/s/m0", ".cosim/s/m0/gpu-0.out", ".cosim/s/m0/gpu-0.out/stats.txt")
}

func TestSweepRemovesNothingThatIsNotTheSessions(t *testing.T) {
	s := newStage(t)
	keep := []string{
		s.l.PoolDir + "/m1.pool", s.l.PoolDir + "/notes.txt", s.l.SocketDir + "/plain.sock",
		s.l.MachineDir("m0") + "/other.qcow2", s.l.MachineDir("m0") + "/plain.sock", s.root + "/cosim-" + s.l.Hash + "0-m0",
	}
	for _, path := range keep {
		s.file(path)
	}
	s.must(os.Remove(s.l.Pool("m0")))
	s.must(os.Symlink(s.root+"/base", s.l.Pool("m0"))) // a pool is a regular file
	s.must(os.Remove(s.l.MemoryLink()))
	s.must(os.Mkdir(s.l.MemoryLink(), 0o700)) // the link is a link
	s.sweep(session.SweepOptions{})
	for _, path := range append(keep, s.root+"/base", s.l.Pool("m0"), s.l.MemoryLink()) {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s was removed: %v", path, err)
		}
	}
}

func TestSweepIsNotLedAwayByAnEditedPlan(t *testing.T) {
	s := newStage(t)
	victim := filepath.Join(s.root, "victim")
	s.must(os.Mkdir(victim, 0o700))
	s.socket(victim + "/1.sock")
	for _, name := range []string{"m1.pool", "boot.qcow2", "data"} {
		s.file(victim + "/" + name)
	}
	p := &s.plan.Launch
	p.Session.SocketDir = victim
	p.Machines[0].Pool.Regions[0].File = victim + "/data"
	p.Machines[0].Disks[0].Target = victim + "/boot.qcow2"
	p.Machines[0].Disks = append(p.Machines[0].Disks, plan.Disk{ID: "../../../victim/boot", Target: "t"})
	p.Machines = append(p.Machines, plan.Machine{ID: "../../victim", Disks: []plan.Disk{{ID: "boot", Target: "t"}}})
	s.writePlan()
	s.sweep(session.SweepOptions{Records: true})
	if names, _ := os.ReadDir(victim); len(names) != 4 {
		t.Errorf("left in the other directory: %v, want all four files", names)
	}
}

func TestSweepPassesDirectoriesOfOthers(t *testing.T) {
	s := newStage(t)
	elsewhere := filepath.Join(s.root, "elsewhere")
	s.must(os.Rename(s.l.PoolDir, elsewhere))
	s.must(os.Symlink(elsewhere, s.l.PoolDir))
	s.must(os.Chmod(s.l.SocketDir, 0o777))
	s.sweep(session.SweepOptions{})
	for _, path := range []string{elsewhere + "/m0.pool", s.l.SocketDir + "/3.sock"} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s was removed: %v", path, err)
		}
	}
}

func TestSweepOfADeadSessionUsesItsOwnPlaces(t *testing.T) {
	s := newStage(t)
	p := leaktest.Helper(t, "wait", []string{session.MarkVariable + "=" + s.l.Mark(), session.ProcessVariable + "=m0/gpu-0"})
	p.Want("ready")
	s.must(s.lock.Release())
	now := s.l
	now.Name, now.PoolDir, now.SocketDir = "renamed", s.root+"/other-pools", now.RunDir
	k, err := session.Acquire(now)
	s.must(err)
	defer k.Release()
	swept, err := k.Sweep(session.SweepOptions{})
	s.must(err)
	if want := (session.Process{ID: "m0/gpu-0", PID: p.Cmd.Process.Pid}); !slices.Equal(swept.Killed, []session.Process{want}) {
		t.Errorf("Killed = %v, want %v", swept.Killed, want)
	}
	s.want(append([]string{"base", "data"}, records...)...)
}

func TestSweepWithoutAPlanRemovesNothing(t *testing.T) {
	s := newStage(t)
	s.must(os.Remove(s.l.PlanFile()))
	before := s.tree()
	if swept := s.sweep(session.SweepOptions{}); !swept.Empty() || !slices.Equal(before, s.tree()) {
		t.Errorf("Sweep removed %+v", swept)
	}
}

func TestSweepSaysWhichPlanItCannotRead(t *testing.T) {
	s := newStage(t)
	s.must(os.WriteFile(s.l.PlanFile(), []byte("{"), 0o600))
	if _, err := s.lock.Sweep(session.SweepOptions{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", s.l.PlanFile())) {
		t.Errorf("Sweep = %v, want an error that names the file", err)
	}
}

func TestARunDirectoryThatWasRemovedIsMadeAnew(t *testing.T) {
	s := newStage(t)
	s.sweep(session.SweepOptions{Records: true})
	if _, err := os.Lstat(s.l.RunDir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the run directory is still there: %v", err)
	}
	k, err := session.Acquire(s.l) // its lock is not the one that the first still holds
	s.must(err)
	s.must(k.Release())
}

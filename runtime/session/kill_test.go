package session

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/cosim-go/cosim/runtime/internal/leaktest"
	"github.com/cosim-go/cosim/runtime/internal/proc"
)

// now is the boot and the start time of a process that a test has started.
func now(t *testing.T, p *leaktest.Process) (string, proc.ID) {
	t.Helper()
	boot, err := proc.BootID()
	if err != nil {
		t.Fatal(err)
	}
	id, err := proc.Lookup(p.Cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return boot, id
}

func marks(mark, process string) []string {
	return []string{MarkVariable + "=" + mark, ProcessVariable + "=" + process}
}

func TestKillMarkedKillsTheSessionAlone(t *testing.T) {
	ours := leaktest.Helper(t, "wait", marks("kill-1", "m0/vhost"))
	longer := leaktest.Helper(t, "wait", marks("kill-10", "m0/vhost"))
	plain := leaktest.Helper(t, "wait", nil)
	for _, p := range []*leaktest.Process{ours, longer, plain} {
		p.Want("ready")
	}
	boot, id := now(t, ours)
	killed, err := KillMarked("kill-1", boot, id.StartTime)
	if err != nil || !slices.Equal(killed, []Process{{"m0/vhost", id.PID}}) {
		t.Errorf("KillMarked = %v, %v, want process %d alone", killed, err, id.PID)
	}
	for _, p := range []*leaktest.Process{longer, plain} {
		if _, id := now(t, p); !id.Alive() {
			t.Errorf("process %d was killed, it is not the session's", id.PID)
		}
	}
	if ours.Line(); id.Alive() {
		t.Errorf("process %d lives", id.PID)
	}
}

func TestKillMarkedReachesWhatAProcessStarted(t *testing.T) {
	parent := leaktest.Helper(t, "spawn", marks("kill-2", "m0/dev"))
	pid, err := strconv.Atoi(parent.Line())
	if err != nil {
		t.Fatal(err)
	}
	child, err := proc.Lookup(pid)
	if err != nil {
		t.Fatal(err)
	}
	parent.Kill()
	boot, err := proc.BootID()
	if err != nil {
		t.Fatal(err)
	}
	killed, err := KillMarked("kill-2", boot, child.StartTime)
	if err != nil || !slices.Equal(killed, []Process{{"m0/dev", pid}}) || child.Alive() {
		t.Errorf("KillMarked = %v, %v, want the orphan %d", killed, err, pid)
	}
}

func TestKillMarkedWantsProof(t *testing.T) {
	p := leaktest.Helper(t, "wait", marks("kill-3", "m0/vhost"))
	p.Want("ready")
	boot, id := now(t, p)
	for name, tt := range map[string]struct {
		boot  string
		since uint64
	}{
		"another boot":                       {"00000000-0000-0000-0000-000000000000", 0},
		"started before the session's start": {boot, id.StartTime + 1},
	} {
		if killed, err := KillMarked("kill-3", tt.boot, tt.since); err != nil || len(killed) != 0 || !id.Alive() {
			t.Errorf("%s: KillMarked = %v, %v, want nothing", name, killed, err)
		}
	}
}

func TestKillLeavesAProcessThatTookTheNumber(t *testing.T) {
	p := leaktest.Helper(t, "wait", nil)
	p.Want("ready")
	_, id := now(t, p)
	other := proc.ID{PID: id.PID, StartTime: id.StartTime - 1}
	if killed, err := other.Kill(time.Second, func() bool { return true }); killed || err != nil || !id.Alive() || other.Alive() {
		t.Errorf("Kill = %v, %v, want the process left alone", killed, err)
	}
	if killed, err := id.Kill(time.Second, func() bool { return false }); killed || err != nil || !id.Alive() {
		t.Errorf("Kill = %v, %v, want the process left alone", killed, err)
	}
}

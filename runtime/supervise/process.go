package supervise

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/topology"
)

// A process is one process of the session. Its fields belong to the session's
// goroutine, but for the spec, which does not change, and the channels.
type process struct {
	*spec
	machine    *machine
	dependents []*process // that wait for this one
	blockers   int        // processes that this one waits for

	state    State
	spawning bool   // the starter is at it
	child    *child // nil until it was started
	ready    bool
	readyAt  time.Time
	stopping bool // a goroutine is stopping it
	exited   bool
	status   unix.WaitStatus // valid once exited
	endedAt  time.Time
	settled  bool // nothing of it is left, and its logs were read to their end
	left     bool // SIGKILL did not end it
	passed   []string
	badLine  string // that matched the fail expression

	logSeen     chan struct{}      // closed when a line matched ready.log
	cancelReady context.CancelFunc // ends the wait for readiness; nil until started
}

// A machine is the processes of one machine.
type machine struct {
	vhost   *process
	devices []*process
}

func (p *process) isVhost() bool { return p.Role == topology.RoleVhost }

// running reports whether something of the process is left, or is about to be.
func (p *process) running() bool { return p.spawning || p.child != nil && !p.settled }

// verdictElsewhere reports whether the verdict is in a log that the process writes itself.
func (p *process) verdictElsewhere() bool { return p.Expect != nil && p.Expect.Log != p.Log }

// snapshot returns the process as others see it.
func (p *process) snapshot() ProcessState {
	s := ProcessState{
		ID: p.ID, Machine: p.Machine, Role: p.Role, State: p.state,
		ExitStatus: -1, ReadyAt: p.readyAt, Ended: p.endedAt, Verdict: append([]string{}, p.passed...),
	}
	if p.badLine != "" {
		s.Verdict = append(s.Verdict, p.badLine)
	}
	if p.child != nil {
		s.PID, s.StartTime, s.Started = p.child.pid, p.child.ticks, p.child.started
	}
	if p.exited {
		s.ExitStatus, s.Signal = exitOf(p.status)
	}
	return s
}

// exitOf splits a status into an exit status, -1 for a signal, and the signal's name.
func exitOf(status unix.WaitStatus) (int, string) {
	if status.Signaled() {
		return -1, signalName(status.Signal())
	}
	return status.ExitStatus(), ""
}

// after is the time since the start.
func (p *process) after(at time.Time) time.Duration {
	if p.child == nil {
		return 0
	}
	return at.Sub(p.child.started)
}

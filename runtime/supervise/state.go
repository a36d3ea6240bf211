package supervise

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/topology"
)

// A State is where a process is in its life.
type State string

// The states of a process, in their order.
const (
	Waiting    State = "waiting"     // for what it depends on
	Starting   State = "starting"    // not ready yet
	Ready      State = "ready"       //
	Stopping   State = "stopping"    // was asked to leave
	Exited     State = "exited"      // has ended, and was not what failed
	Failed     State = "failed"      // is what ended the session; it may still be running
	NotStarted State = "not-started" // the session ended before its turn
)

// A ProcessState is one process of a session at one moment.
type ProcessState struct {
	ID         string        `json:"id"` // as in the plan
	Machine    string        `json:"machine"`
	Role       topology.Role `json:"role"`
	State      State         `json:"state"`
	PID        int           `json:"pid"`         // 0 until it was started
	StartTime  uint64        `json:"start_time"`  // clock ticks since the boot, as in /proc/<pid>/stat
	ExitStatus int           `json:"exit_status"` // -1 until it has exited, and where a signal killed it
	Signal     string        `json:"signal"`      // that killed it, such as "SIGKILL", or empty
	Started    time.Time     `json:"started"`     // each time is zero until it has come
	ReadyAt    time.Time     `json:"ready"`
	Ended      time.Time     `json:"ended"`
	Verdict    []string      `json:"verdict"` // lines that matched what is expected, the first 32
}

// A Result is how a session ended.
type Result struct {
	Processes []ProcessState // in the order of the plan

	// First is the failure that ended the session, nil if none did. What fails while
	// a session ends is a consequence and not reported.
	First *Failure

	// Interrupted is why the context ended, where that ended the session.
	Interrupted error

	// Left lists processes that SIGKILL did not end in time: they hang in the kernel.
	Left []Leftover
}

// Err returns nil for a session that ended well, and else the failure or why the
// context ended.
func (r *Result) Err() error {
	if r.First != nil {
		return r.First
	}
	return r.Interrupted
}

// signalName returns the name of a signal, such as "SIGKILL".
func signalName(sig unix.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return "unknown"
}

package supervise

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/topology"
)

// A Reason says in which way a process failed.
type Reason string

// The reasons of a failure.
const (
	NotExecuted Reason = "not-executed" // could not be started at all
	EndedEarly  Reason = "ended-early"  // before it was ready
	NotReady    Reason = "not-ready"    // in time
	Ended       Reason = "ended"        // with another status than 0, or a device too soon
	NoVerdict   Reason = "no-verdict"   // a vhost ended, and no line was what its pass expression wants
	BadVerdict  Reason = "bad-verdict"  // a line matched the fail expression
)

// A Failure is what ended a session.
type Failure struct {
	Process    string // its identifier in the plan
	Machine    string
	Role       topology.Role
	Kind       string
	Reason     Reason
	What       string        // what happened, such as "exited with status 1 after 2.1s"
	ExitStatus int           // -1 where it did not exit by itself
	Signal     string        // that killed it, such as "SIGKILL", or empty
	After      time.Duration // since its start; 0 where it was not started
	LogFile    string        // where to read on
	Log        []string      // the last lines of that file, at most 10
	Verdict    []string      // lines that matched what is expected, and decided
	Hint       string        // what may be the cause, or empty

	several bool // machines are in the session, so that a device's name alone may not be enough
	final   bool
}

// Subject names the process for people: `device "gpu0" (gem5-mi300x)`.
func (f *Failure) Subject() string {
	machine, device, _ := strings.Cut(f.Process, "/")
	switch {
	case f.Role == topology.RoleVhost:
		return fmt.Sprintf("vhost of machine %q (%s)", machine, f.Kind)
	case f.several:
		return fmt.Sprintf("device %q of machine %q (%s)", device, machine, f.Kind)
	default:
		return fmt.Sprintf("device %q (%s)", device, f.Kind)
	}
}

// Error is one line with the process, what happened and the last line of its log.
func (f *Failure) Error() string {
	text := f.Subject() + " " + f.What
	if len(f.Log) > 0 && f.Reason != BadVerdict {
		text += "; last line of its log: " + f.Log[len(f.Log)-1]
	}
	return text
}

// ending says how a process ended: "exited with status 1 after 2.1s".
func ending(status unix.WaitStatus, after time.Duration) string {
	text := fmt.Sprintf("exited with status %d", status.ExitStatus())
	if status.Signaled() {
		sig := status.Signal()
		text = fmt.Sprintf("was killed by signal %d (%s)", sig, signalName(sig))
		if status.CoreDump() {
			text += ", leaving a core dump,"
		}
	}
	return text + " after " + short(after)
}

// short prints a duration with as many digits as a person reads.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 100*time.Second:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}

// hint explains a status whose cause is usually elsewhere.
func hint(status unix.WaitStatus) string {
	if status.Signaled() && status.Signal() == unix.SIGBUS {
		return "the file system of the memory pool may be full"
	}
	return ""
}

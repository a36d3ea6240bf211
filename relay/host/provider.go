package host

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// A Provider is where a cartridge comes from: a program, or handlers in this process. A host opens it whenever a
// request needs the cartridge and it does not run.
type Provider interface {
	// Open starts the cartridge, which knows nothing yet: the host greets it. It ends its work when ctx ends, and fails with
	// its cause; what was opened does not end with ctx. A host waits no longer for an Open than for a HELLO, and kills
	// what an Open that takes longer returns later.
	Open(ctx context.Context) (Link, error)
}

// A Link is a cartridge that was opened. Reads and Writes are those of one goroutine each; the other methods are safe
// for concurrent use and do not wait.
type Link interface {
	io.Reader // of frames from the cartridge

	// Write writes frames to the cartridge. Close is the end of its input, and ends a Write that waits.
	io.WriteCloser

	// Kill ends whatever serves the link, and all that it has started. It makes Read fail or return io.EOF, after what
	// was written before. It may be called again, and after the end.
	Kill() error

	// Done is closed when whatever serves the link has ended, by itself or by Kill.
	Done() <-chan struct{}

	// Exit says how it ended. It is valid once Done is closed.
	Exit() Exit

	// PID returns the id of the process; 0 when there is none of its own.
	PID() int
}

// An Exit is how a cartridge ended.
type Exit struct {
	ExitState
	Err    error  // of handlers in this process, or of a connection
	Stderr string // the last that its process wrote to standard error, at most 2000 bytes and a mark that some is missing
}

// An ExitState is how a process ended. The zero value is one that ended with status 0.
type ExitState struct {
	Status int    // exit status; -1 after a signal, and where it is not known
	Signal string // that ended it, such as SIGKILL; "" for none
}

// String says how the process ended, such as "exited with status 3".
func (s ExitState) String() string {
	switch {
	case s.Signal != "":
		return "was ended by signal " + s.Signal
	case s.Status < 0:
		return "ended"
	}
	return fmt.Sprintf("exited with status %d", s.Status)
}

// String says how the cartridge ended and, when it wrote to standard error, with which last lines.
func (e Exit) String() string { return e.how() + e.lastLines() }

func (e Exit) how() string {
	if e.Err != nil {
		return "ended: " + e.Err.Error()
	}
	return e.ExitState.String()
}

// lastLines returns the end of standard error as the end of a sentence.
func (e Exit) lastLines() string {
	if e.Stderr == "" {
		return ""
	}
	return "; last lines of its stderr: " + strings.TrimRight(e.Stderr, "\n")
}

package host

import (
	"context"
	"io"
)

// A Command is a program to start as a cartridge.
type Command struct {
	Path string   // of the executable
	Args []string // after the program's name; a cartridge gets none, which tells it to speak frames
	Env  []string // NAME=value; nil is the environment of this process
	Dir  string   // working directory; "" is that of this process
}

// A Starter starts the processes of cartridges: on this machine, as Exec does, in containers, or elsewhere. It is safe for
// concurrent use.
type Starter interface {
	// Start starts a process. ctx is for the start alone; the process does not end with it.
	Start(ctx context.Context, c Command) (Process, error)
}

// A Process is one that a Starter has started. Its methods are safe for concurrent use.
type Process interface {
	// Stdin, Stdout and Stderr return the near ends of its standard streams, the same ones each time. Closing one
	// ends a Read or Write that waits there. Who started the process closes them.
	Stdin() io.WriteCloser
	Stdout() io.ReadCloser
	Stderr() io.ReadCloser

	// Kill ends the process and what it has started, at once, and does not wait for that. It may be called
	// again, also when nothing is left.
	Kill() error

	// Wait waits until the process has ended, and says how. It may be called again.
	Wait() (ExitState, error)

	// PID returns its id on this machine; 0 when it has none.
	PID() int
}

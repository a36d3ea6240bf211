package supervise

import (
	"log/slog"
	"os"
)

// Options say what [Run] cannot know from the plan. Only Mark is required.
type Options struct {
	// Mark is the value of COSIM_SESSION in every process: "<name>-<hash>" of the
	// session. It must belong to one session of this host at a time, since what
	// carries it is killed at the end.
	Mark string

	// Dirs are the directories of the session. Only in them are sockets and files
	// removed that would pass for those of a new process.
	Dirs []string

	// Env is the environment under the plan's variables; nil means os.Environ().
	Env []string

	// Events is told each change, from one goroutine, which waits for it; nil is
	// told nothing.
	Events func(Event)

	// Kill makes the session end by SIGKILL at once when it is closed or sent to,
	// whether or not it is ending already; nil never does.
	Kill <-chan struct{}

	// Logger gets what happens, with the keys vhost or device (the process's
	// identifier) and pid; nil discards.
	Logger *slog.Logger

	// NoGuard does without the guard, for a program that cannot call [GuardMain]
	// first. Grandchildren then outlive a supervisor that is killed.
	NoGuard bool
}

// withDefaults returns a copy in which only Kill may be nil.
func (o Options) withDefaults() Options {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Events == nil {
		o.Events = func(Event) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// An Event is a change in a session.
type Event struct {
	// Process is the process after the change. Its ID is empty where the event is
	// about the session.
	Process ProcessState

	Text string // what happened, in one line for people
}

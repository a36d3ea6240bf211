package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// guardName is the first argument of a guard's command line, which nothing else has.
const guardName = "cosim-guard"

// guardFD is the guard's end of the pipe that ends with the supervisor.
const guardFD = 3

// guarded tells that GuardMain was called, so that this executable can be a guard.
var guarded atomic.Bool

// GuardMain makes this process a guard, if it was started as one, and returns true when
// it is done: main then returns at once. Otherwise it returns false. A program that
// calls [Run] calls it before anything else, since a guard is the same executable.
//
// A guard waits for the end of its supervisor, and kills what carries the session's mark.
// A supervisor that ends the session in good order ends the guard first.
func GuardMain() bool {
	guarded.Store(true)
	if len(os.Args) != 2 || os.Args[0] != guardName {
		return false
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	pipe := os.NewFile(guardFD, "supervisor")
	pipe.Read(make([]byte, 1)) // ends with the supervisor, who writes nothing
	ctx, cancel := context.WithTimeout(context.Background(), sweepLimit)
	defer cancel()
	KillLeftovers(ctx, os.Args[1])
	return true
}

// A Guard is a guard as its supervisor sees it.
type Guard struct {
	process *os.Process
	pipe    *os.File
}

// StartGuard starts a guard for those processes that carry a mark in their environment, as the
// value of session.MarkVariable, for a program that starts processes without [Run]. The program
// has to call [GuardMain] first. The guard runs in a session of its own, out of reach of the terminal's
// signals.
func StartGuard(mark string) (*Guard, error) {
	if !guarded.Load() {
		return nil, errors.New("the program does not call supervise.GuardMain")
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		ours.Close()
		return nil, err
	}
	defer null.Close()
	process, err := os.StartProcess("/proc/self/exe", []string{guardName, mark}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{},
		Files: []*os.File{null, null, null, theirs},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		ours.Close()
		return nil, fmt.Errorf("executing itself: %w", err)
	}
	return &Guard{process, ours}, nil
}

// Dismiss ends the guard: nothing is left for it. It holds nothing that it would have
// to put in order.
func (g *Guard) Dismiss() {
	g.process.Kill()
	g.process.Wait()
	g.pipe.Close()
}

// Package launch carries out a plan from its first check to the removal of the last
// file: refuse what cannot run, lock the session, build images, make pools and
// overlays, run the processes, and leave nothing behind but the records.
//
// [Run] does all of it, [Clean] removes what a session left or was told to keep. Both
// touch only what is proven to belong to the session.
package launch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/runtime/supervise"
)

// Options change how a plan is carried out. The zero value, and nil, mean the defaults.
type Options struct {
	// Text is what becomes plan.json, byte for byte: the output that the plan was
	// read from. Nil means the plan as [plan.Plan.WriteJSON] writes it.
	Text []byte

	Keep         bool // pools and overlays stay until Clean or the next run
	Overcommit   bool // run although the pools are larger than memory
	StrictMemory bool // refuse where the pools are larger than what is free now

	Env    []string        // environment of the processes under the plan's; nil means this process's
	Kill   <-chan struct{} // ends the session by SIGKILL at once when it is closed
	Logger *slog.Logger    // nil discards

	// Observe is told what happens, one call at a time; nil is told nothing.
	Observe func(Event)
}

// An Event is something that a user who watches a session wants to know. One of Note,
// Warning and Process is set.
type Event struct {
	Note    string                  // a line about images, disks, leftovers
	Warning string                  // a line about what may go wrong
	Hint    string                  // with Warning: what to do about it; may be empty
	Process *supervise.ProcessState // the new state of a process
	Text    string                  // with Process: what happened to it
}

// A Result is how a session ended.
type Result struct {
	*supervise.Result
	Session  session.Layout
	ExitCode int   // as the command ends with it
	Cleanup  error // what could not be removed; nil where nothing is left
}

// Exit codes that a session ends with.
const (
	ExitFine    = 0
	ExitRefused = 3
	ExitFailed  = 4
)

// An InterruptError is the cause of a context that ends because somebody asked for it.
type InterruptError struct {
	Signal   string // such as "SIGINT"
	ExitCode int    // 128 and the signal's number
}

func (e *InterruptError) Error() string { return "ended by " + e.Signal }

// A RefusedError says why nothing was started or created.
type RefusedError struct {
	Problems []Problem // at least one
}

// A Problem is one reason to refuse a run.
type Problem struct {
	Message string
	Hint    string // what to do; may be empty
}

func (e *RefusedError) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0].Message
	}
	return fmt.Sprintf("%s (and %d more)", e.Problems[0].Message, len(e.Problems)-1)
}

// Run carries out a plan and returns when nothing of the session runs any more. The
// context ends the session in order; its cause says why.
//
// The error is a [*RefusedError] where nothing was created, and otherwise says what
// could not be made before the first process was started. How the processes ended is in
// the result, which is nil where there is an error.
func Run(ctx context.Context, p *plan.Plan, opts *Options) (*Result, error) {
	r := newRun(p, opts)
	if err := r.refuse(ctx); err != nil {
		return nil, err
	}
	lock, err := session.Acquire(r.layout)
	if err != nil {
		return nil, refusedBy(err)
	}
	defer lock.Release()
	r.lock = lock
	if err := r.sweepBefore(); err != nil {
		return nil, refusedUnread(err)
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	result, err := r.execute(ctx)
	r.settle()
	cleanup := r.sweepAfter()
	if err != nil {
		r.end(exitCode(err), err.Error(), nil)
		return nil, errors.Join(err, cleanup)
	}
	code := exitCode(result.Err())
	r.end(code, failureText(result), result.Processes)
	return &Result{Result: result, Session: r.layout, ExitCode: code, Cleanup: cleanup}, nil
}

func failureText(r *supervise.Result) string {
	if err := r.Err(); err != nil {
		return err.Error()
	}
	return ""
}

// exitCode is the code that an end calls for. A failure that came before a request to
// end keeps its own.
func exitCode(err error) int {
	var interrupt *InterruptError
	var refused *RefusedError
	switch {
	case err == nil:
		return ExitFine
	case errors.As(err, &interrupt):
		return interrupt.ExitCode
	case errors.As(err, &refused):
		return ExitRefused
	}
	return ExitFailed
}

// ExitCode is the code that the command ends with for an error of Run.
func ExitCode(err error) int { return exitCode(err) }

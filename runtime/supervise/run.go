package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/cosim-go/cosim/runtime/plan"
)

// Run runs the processes of one session, in the order of a plan, and returns when none
// is left. The end of the context ends the session in good order. The error is not nil
// where nothing was started: the processes cannot be run as they are described, or the
// host refused what Run itself needs.
func Run(ctx context.Context, procs []plan.Process, opts *Options) (*Result, error) {
	specs, err := parse(procs)
	if err != nil {
		return nil, err
	}
	if opts == nil || opts.Mark == "" {
		return nil, errors.New("supervise: a session needs a mark")
	}
	s, err := newSession(specs, opts.withDefaults())
	if err != nil {
		return nil, err
	}
	s.loop(ctx)
	return s.finish(), nil
}

// A session runs on the goroutine that called Run: everything that happens is posted to
// its mailbox, so that its state needs no lock and events have one order.
type session struct {
	opts    Options
	log     *slog.Logger
	mail    *mailbox
	starter *starter
	spawner *spawner // belongs to the starter's thread
	reaper  *reaper
	guard   *Guard // nil without one
	work    sync.WaitGroup

	procs       []*process
	machines    map[string]*machine
	ending      bool
	interrupted error
	first       *Failure
	firstOf     *process
	kill        chan struct{} // closed when everything is to be killed at once
	killed      bool
	killLimit   time.Duration // for the kernel to end what got SIGKILL
}

func newSession(specs []*spec, opts Options) (*session, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	reaper, err := newReaper()
	if err != nil {
		null.Close()
		return nil, err
	}
	var g *Guard
	if !opts.NoGuard {
		if g, err = StartGuard(opts.Mark); err != nil {
			reaper.close()
			null.Close()
			return nil, fmt.Errorf("starting the guard: %w", err)
		}
	}
	s := &session{
		opts: opts, log: opts.Logger, mail: newMailbox(), starter: newStarter(), reaper: reaper, guard: g,
		spawner:  &spawner{mark: opts.Mark, base: opts.Env, dirs: opts.Dirs, null: null, channels: channels{waiting: map[string]int{}}},
		machines: map[string]*machine{}, kill: make(chan struct{}), killLimit: killLimit,
	}
	s.link(specs)
	return s, nil
}

// link joins the processes with each other and with their machines.
func (s *session) link(specs []*spec) {
	byID := make(map[string]*process, len(specs))
	for _, spec := range specs {
		m := s.machines[spec.Machine]
		if m == nil {
			m = &machine{}
			s.machines[spec.Machine] = m
		}
		p := &process{spec: spec, machine: m, state: Waiting, blockers: len(spec.DependsOn), logSeen: make(chan struct{})}
		if p.isVhost() {
			m.vhost = p
		} else {
			m.devices = append(m.devices, p)
		}
		for _, dep := range spec.DependsOn {
			byID[dep].dependents = append(byID[dep].dependents, p)
		}
		byID[p.ID] = p
		s.procs = append(s.procs, p)
	}
}

// loop runs the session until nothing of it is left.
func (s *session) loop(ctx context.Context) {
	interrupt, kill := ctx.Done(), s.opts.Kill
	if ctx.Err() != nil {
		s.interrupt(context.Cause(ctx))
	}
	for _, p := range s.procs {
		if p.blockers == 0 && !s.ending {
			s.start(p)
		}
	}
	for !s.over() {
		select {
		case <-s.mail.wake:
		case <-interrupt:
			interrupt = nil
			s.interrupt(context.Cause(ctx))
		case <-kill:
			kill = nil
			s.killAll()
		}
		for _, f := range s.mail.take() {
			f()
		}
	}
}

// over reports whether nothing runs. Nothing is started then either, since only a
// process that runs becomes ready.
func (s *session) over() bool {
	for _, p := range s.procs {
		if p.running() {
			return false
		}
	}
	return true
}

// finish ends everything that served the session, and sums it up.
func (s *session) finish() *Result {
	s.end()
	s.work.Wait()
	s.reaper.close()
	s.starter.call(func() error { return s.spawner.null.Close() }) // behind all that was queued
	s.starter.close()
	result := &Result{First: s.first, Interrupted: s.interrupted}
	result.Left = s.sweep()
	if s.guard != nil {
		s.guard.Dismiss()
	}
	for _, p := range s.procs {
		result.Processes = append(result.Processes, p.snapshot())
	}
	return result
}

// post hands a function to the session's goroutine.
func (s *session) post(f func()) { s.mail.post(f) }

// set changes the state of a process and tells it.
func (s *session) set(p *process, state State, text string) {
	if p.state != Failed || state == Failed {
		p.state = state
	}
	s.tell(p, text)
}

// tell reports something about a process.
func (s *session) tell(p *process, text string) {
	state := p.snapshot()
	s.log.Info(text, string(p.Role), p.ID, "pid", state.PID)
	s.opts.Events(Event{Process: state, Text: text})
}

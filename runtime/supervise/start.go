package supervise

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// start hands a process to the starter's thread.
func (s *session) start(p *process) {
	p.spawning = true
	s.set(p, Starting, "starting")
	s.starter.do(func() {
		c, err := s.spawner.spawn(p.spec, s.matcher(p))
		if err != nil {
			s.post(func() { s.notExecuted(p, err) })
			return
		}
		c.ended = func(status unix.WaitStatus, at time.Time) { s.post(func() { s.exited(p, status, at) }) }
		err = s.reaper.watch(c, func() { s.post(func() { s.started(p, c) }) })
		if err != nil {
			c.destroy()
			s.post(func() { s.notExecuted(p, err) })
		}
	})
}

func (s *session) notExecuted(p *process, err error) {
	p.spawning = false
	p.state = NotStarted
	s.fail(p, NotExecuted, fmt.Sprintf("was not started: %v", err))
	s.advance() // also where the session was ending already
}

// started takes over a child. Its exit comes later, if it has ended already.
func (s *session) started(p *process, c *child) {
	p.spawning = false
	p.child = c
	conditions := p.conditions(s)
	if len(conditions) == 0 {
		s.awaited(p, nil)
	} else {
		s.tell(p, "started")
	}
	ready := make(chan struct{})
	ctx, cancel := context.WithDeadlineCause(context.Background(), c.started.Add(p.timeout), errTimeout)
	p.cancelReady = cancel
	s.work.Go(func() {
		defer close(ready)
		unmet := awaitAll(ctx, conditions)
		if cause := context.Cause(ctx); cause == nil || errors.Is(cause, errTimeout) {
			s.post(func() { s.awaited(p, unmet) })
		}
		cancel()
	})
	s.work.Go(func() { s.tend(p, c, ready, conditions) })
	s.advance()
}

var errTimeout = errors.New("the time for readiness is over")

// awaited ends the wait for readiness: all conditions hold, or some do not in time.
func (s *session) awaited(p *process, unmet []string) {
	switch {
	case p.exited || s.ending || p.ready:
	case len(unmet) > 0:
		s.fail(p, NotReady, fmt.Sprintf("was not ready after %s: %s", short(p.timeout), strings.Join(unmet, ", ")))
	default:
		p.ready, p.readyAt = true, time.Now()
		s.set(p, Ready, "ready after "+short(p.after(p.readyAt)))
		s.unblock(p)
	}
}

// unblock starts what waited for a process alone.
func (s *session) unblock(p *process) {
	for _, d := range p.dependents {
		if d.blockers--; d.blockers == 0 && !s.ending {
			s.start(d)
		}
	}
}

// matcher returns what sees the lines of a process's own log, and nil where nobody
// waits for one.
func (s *session) matcher(p *process) func([]byte) bool {
	ready := p.readyLog
	var v *verdict
	if p.Expect != nil && !p.verdictElsewhere() {
		v = s.verdict(p)
	}
	if ready == nil && v == nil {
		return nil
	}
	return func(line []byte) bool {
		if ready != nil && ready.Match(line) {
			close(p.logSeen)
			ready = (*regexp.Regexp)(nil)
		}
		if v != nil {
			v.see(line)
		}
		return ready != nil || v != nil
	}
}

// verdict returns a matcher of what is expected of a vhost.
func (s *session) verdict(p *process) *verdict {
	return &verdict{
		pass: p.pass, fail: p.fail,
		passed: func(line string) { s.post(func() { s.passed(p, line) }) },
		failed: func(line string) { s.post(func() { s.failedVerdict(p, line) }) },
	}
}

func (s *session) passed(p *process, line string) {
	p.passed = append(p.passed, line)
	s.tell(p, line)
}

func (s *session) failedVerdict(p *process, line string) {
	p.badLine = line
	what := fmt.Sprintf("reported failure: %q", line)
	if f := s.first; f != nil && s.firstOf == p && !f.final {
		f.Reason, f.What = BadVerdict, what // it was written before the end that was seen first
		return
	}
	s.fail(p, BadVerdict, what)
}

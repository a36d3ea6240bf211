package supervise

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// fail ends the session because of a process, unless it is ending already.
func (s *session) fail(p *process, reason Reason, what string) {
	if s.ending {
		return
	}
	f := &Failure{
		Process: p.ID, Machine: p.Machine, Role: p.Role, Kind: p.Kind, Reason: reason, What: what,
		ExitStatus: -1, After: p.after(time.Now()), LogFile: p.Log, several: len(s.machines) > 1,
	}
	if reason == NoVerdict {
		f.LogFile = p.Expect.Log
	}
	if p.exited {
		f.ExitStatus, f.Signal = exitOf(p.status)
		f.After = p.after(p.endedAt)
		f.Hint = hint(p.status)
	}
	s.first, s.firstOf = f, p
	s.end()
	s.set(p, Failed, what)
	if !p.exited || p.settled {
		s.complete(p) // its log holds what led to this, and not yet what follows from it
	}
	s.advance()
}

// complete adds to the failure what the logs of its process say.
func (s *session) complete(p *process) {
	f := s.first
	if f.final {
		return
	}
	f.final = true
	if f.Reason != NotExecuted {
		f.Log = tailOf(f.LogFile)
	}
	f.Verdict = append([]string(nil), p.passed...)
	if p.badLine != "" {
		f.Verdict = append(f.Verdict, p.badLine)
	}
	s.log.Error(f.Error(), string(p.Role), p.ID)
	s.opts.Events(Event{Process: p.snapshot(), Text: f.Error()})
}

// interrupt ends the session because its context did.
func (s *session) interrupt(cause error) {
	if s.ending {
		return
	}
	s.interrupted = cause
	text := fmt.Sprintf("the session ends: %v", cause)
	s.log.Info(text)
	s.opts.Events(Event{Text: text})
	s.end()
	s.advance()
}

// errKilled is why a session ended that was told to kill everything and nothing before.
var errKilled = errors.New("killed")

// killAll ends the session without waiting for anybody.
func (s *session) killAll() {
	s.interrupt(errKilled)
	s.killed = true
	close(s.kill)
	s.advance()
}

// end starts nothing any more and waits for no readiness.
func (s *session) end() {
	s.ending = true
	for _, p := range s.procs {
		if p.state == Waiting {
			p.state = NotStarted
		}
		if p.cancelReady != nil {
			p.cancelReady()
		}
	}
	s.starter.do(func() { s.spawner.channels.close() })
}

// advance takes the next step of an ending session: vhosts are stopped first, devices
// once no vhost is left, everything at once when it is to be killed.
func (s *session) advance() {
	if !s.ending {
		return
	}
	hosts := false
	for _, p := range s.procs {
		if p.isVhost() && p.running() {
			hosts = true
			s.stop(p)
		}
	}
	for _, p := range s.procs {
		if !p.isVhost() && p.running() && (!hosts || s.killed) {
			s.stop(p)
		}
	}
}

// sweep kills what left its group and still carries the mark.
func (s *session) sweep() []Leftover {
	ctx, cancel := context.WithTimeout(context.Background(), sweepLimit)
	defer cancel()
	killed, left := KillLeftovers(ctx, s.opts.Mark)
	for _, l := range killed {
		s.log.Warn("killed what a process left behind", "process", l.Process, "pid", l.PID)
	}
	for _, p := range s.procs {
		if p.left && !contains(left, p.child.pid) {
			left = append(left, Leftover{PID: p.child.pid, StartTime: p.child.ticks, Process: p.ID})
		}
	}
	return left
}

func contains(list []Leftover, pid int) bool {
	for _, l := range list {
		if l.PID == pid {
			return true
		}
	}
	return false
}

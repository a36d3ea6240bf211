package supervise

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// exited judges the end of a process, as far as that can be done before its logs were
// read to their end; settled does the rest.
func (s *session) exited(p *process, status unix.WaitStatus, at time.Time) {
	p.exited, p.status, p.endedAt = true, status, at
	p.cancelReady()
	s.set(p, Exited, ending(status, p.after(at)))
	switch {
	case s.ending:
	case !p.isVhost():
		s.deviceExited(p)
	default:
		s.releaseDevices(p.machine)
		if status != 0 {
			s.failEnded(p)
		}
	}
	s.advance()
}

// deviceExited judges the end of a device. One that was not ready yet and exited with 0
// is judged once its log tells whether it had become ready.
func (s *session) deviceExited(p *process) {
	switch {
	case p.machine.vhost.exited: // it does not matter any more
	case p.status != 0:
		s.failEnded(p)
	case p.ready:
		s.awaitVhost(p)
	}
}

// failEnded fails a process for its status.
func (s *session) failEnded(p *process) {
	what, reason := ending(p.status, p.after(p.endedAt)), Ended
	if !p.ready {
		what, reason = what+", before it was ready", EndedEarly
	}
	s.fail(p, reason, what)
	if p.isVhost() && s.firstOf == p {
		s.first.Hint = cmp.Or(s.first.Hint, deviceBefore(p))
	}
}

// deviceBefore names a device that left before its vhost, which may be why that failed.
// It may be a consequence too: a device that follows its host through the closed link can
// be gone before the host is.
func deviceBefore(vhost *process) string {
	for _, d := range vhost.machine.devices {
		if d.exited && d.endedAt.Before(vhost.endedAt) {
			_, name, _ := strings.Cut(d.ID, "/")
			return fmt.Sprintf("device %q %s, before its vhost: as the cause of its end, or a consequence", name, ending(d.status, d.after(d.endedAt)))
		}
	}
	return ""
}

// awaitVhost gives the vhost of a device that left with 0 a moment to end too: a
// remote QEMU and gem5 leave when their host closes the link, before it is reaped.
func (s *session) awaitVhost(p *process) {
	vhost := p.machine.vhost
	what := ending(p.status, p.after(p.endedAt))
	if vhost.state == Waiting {
		s.fail(p, Ended, what+", before its vhost was started")
		return
	}
	time.AfterFunc(afterVhost, func() {
		s.post(func() {
			if !vhost.exited && !s.ending {
				s.fail(p, Ended, what+", while its vhost went on")
			}
		})
	})
}

// releaseDevices gives the devices of a machine whose vhost has ended their grace to
// leave by themselves.
func (s *session) releaseDevices(m *machine) {
	for _, d := range m.devices {
		if !d.running() || d.exited {
			continue
		}
		time.AfterFunc(d.grace, func() {
			s.post(func() {
				if !d.exited && !s.ending {
					s.stop(d)
				}
			})
		})
	}
}

// tend follows a child from its start until nothing of it is left and all that it wrote
// has been read.
func (s *session) tend(p *process, c *child, ready <-chan struct{}, conditions []*condition) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		if p.verdictElsewhere() {
			lines := &splitter{line: s.verdict(p).see}
			followFile(ctx, p.Expect.Log, followPause, lines)
			lines.flush()
		}
	}()
	select {
	case <-c.exited:
		s.awaitGroup(p, c)
	case <-c.abandoned:
	}
	err := c.pump.finish(drainLimit)
	cancel()
	<-followed
	<-ready
	met := allHold(conditions)
	s.post(func() { s.settle(p, met, err) })
}

// awaitGroup waits until nothing is left in the group of a child that has ended. What
// is left is asked to leave and then killed, as a process is.
func (s *session) awaitGroup(p *process, c *child) {
	defer close(c.gone)
	if !c.group.left() {
		return
	}
	s.post(func() { s.stopLeftovers(p) })
	tick := time.NewTicker(groupPause)
	defer tick.Stop()
	for c.group.left() {
		select {
		case <-tick.C:
		case <-c.abandoned:
			return
		}
	}
}

// settle ends the life of a process. Met tells whether all that it was waited for had
// happened by its end.
func (s *session) settle(p *process, met bool, logErr error) {
	p.settled = true
	if logErr != nil {
		s.log.Warn("its log is not complete", string(p.Role), p.ID, "err", logErr)
	}
	if !s.ending && p.exited && p.status == 0 {
		s.judge(p, met)
	}
	if s.firstOf == p {
		if f := s.first; met && f.Reason == EndedEarly {
			f.Reason, f.What = Ended, ending(p.status, p.after(p.endedAt)) // its log says that it was ready
		}
		s.complete(p)
	}
	s.advance()
}

// judge judges a process that exited with 0.
func (s *session) judge(p *process, met bool) {
	vhostEnded := p.machine.vhost.exited
	switch {
	case !p.isVhost() && vhostEnded:
	case !p.ready && !met:
		s.failEnded(p)
	case p.isVhost() && p.pass != nil && len(p.passed) == 0:
		s.fail(p, NoVerdict, fmt.Sprintf("%s, and no line of %s matched %q", ending(p.status, p.after(p.endedAt)), p.Expect.Log, p.Expect.Pass))
	case !p.ready:
		p.ready, p.readyAt = true, p.endedAt
		if !p.isVhost() {
			s.awaitVhost(p)
		}
		s.unblock(p)
	}
}

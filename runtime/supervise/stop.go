package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/qmp"
)

// stop begins to stop a process, once.
func (s *session) stop(p *process) {
	if p.child == nil || p.stopping || p.settled {
		return
	}
	p.stopping = true
	if !p.exited {
		s.set(p, Stopping, "stopping")
	}
	s.work.Go(func() { s.see(p, p.child, p.Stop.QMP) })
}

// stopLeftovers stops what a process that has ended left in its group.
func (s *session) stopLeftovers(p *process) {
	if p.stopping {
		return
	}
	p.stopping = true
	s.tell(p, "stopping what it left behind")
	s.work.Go(func() { s.see(p, p.child, "") })
}

// see sees a child off, in steps that get less polite. Without a monitor it begins with
// the signal.
func (s *session) see(p *process, c *child, monitor string) {
	if monitor != "" && s.quit(c, monitor) && s.waitGone(c, p.grace) {
		return
	}
	if !s.isKilled() {
		c.group.signal(p.signal)
		c.group.signal(unix.SIGCONT) // a stopped process would not see the signal
		if s.waitGone(c, p.grace) {
			return
		}
	}
	c.group.signal(unix.SIGKILL)
	timer := time.NewTimer(s.killLimit)
	defer timer.Stop()
	select {
	case <-c.gone:
	case <-timer.C:
		s.post(func() { s.abandon(p, c) })
	}
}

// abandon gives up a process that hangs in the kernel.
func (s *session) abandon(p *process, c *child) {
	if p.settled {
		return
	}
	p.left = true
	s.tell(p, fmt.Sprintf("has not ended %s after SIGKILL", short(s.killLimit)))
	close(c.abandoned)
}

// waitGone waits until a child's group is gone, but not for longer than a time, nor
// when everything is to be killed.
func (s *session) waitGone(c *child, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.gone:
		return true
	case <-timer.C:
		return false
	case <-s.kill:
		return false
	}
}

func (s *session) isKilled() bool {
	select {
	case <-s.kill:
		return true
	default:
		return false
	}
}

// quit asks a QEMU to leave through its monitor, and reports whether it agreed. One
// that was stopped is continued first, since it would not answer.
func (s *session) quit(c *child, monitor string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), quitLimit)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-c.gone:
		case <-s.kill:
		case <-stop:
		}
		cancel()
	}()
	c.group.signal(unix.SIGCONT)
	client, err := qmp.Dial(ctx, monitor)
	if err != nil {
		return false
	}
	defer client.Close()
	if err := client.Negotiate(ctx); err != nil {
		return false
	}
	_, err = client.Execute(ctx, "quit", nil)
	return err == nil || errors.Is(err, io.EOF)
}

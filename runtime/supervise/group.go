package supervise

import (
	"sync"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/internal/proc"
)

// A group is a process group with the child that leads it. The group's number is the
// child's, and stays taken while the child is not reaped or the group has a member; so
// what is sent to the group reaches nobody else. (Between the last member's end and our
// next look nothing holds the number, but the kernel gives a number away again only
// after all others.)
type group struct {
	id int

	mu     sync.Mutex
	reaped bool
	gone   bool
}

// signal sends a signal to all members. It does nothing once the group is gone.
func (g *group) signal(sig unix.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone {
		return
	}
	if err := unix.Kill(-g.id, sig); err == unix.ESRCH && !g.reaped {
		unix.Kill(g.id, sig) // the child moved to another group
	}
}

// reap takes the child's status, if it has ended.
func (g *group) reap() (status unix.WaitStatus, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		pid, err := unix.Wait4(g.id, &status, unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid != g.id {
			return 0, false
		}
		g.reaped = true
		g.gone = unix.Kill(-g.id, 0) == unix.ESRCH
		return status, true
	}
}

// left reports whether the group has members that live. It is called after reap.
func (g *group) left() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone && !hasMember(g.id) {
		g.gone = true
	}
	return !g.gone
}

// hasMember looks for a process of a group that is not dead: a dead one stays a member
// until its parent, which may never do it, takes its status.
func hasMember(id int) bool {
	if unix.Kill(-id, 0) == unix.ESRCH {
		return false
	}
	list, err := proc.All()
	for _, pid := range list {
		if proc.InGroup(pid, id) {
			return true
		}
	}
	return err != nil
}

package supervise

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A reaper waits for children and takes their status. It sees them end in the order in
// which they did, whatever the Go scheduler does: an epoll instance lists descriptors
// in the order in which they became ready.
type reaper struct {
	epoll, wake int

	mu       sync.Mutex
	children map[int]*child // by pidfd
	done     chan struct{}
}

func newReaper() (*reaper, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making an epoll instance: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("making an eventfd: %w", err)
	}
	r := &reaper{epoll: epoll, wake: wake, children: map[int]*child{}, done: make(chan struct{})}
	if err := r.add(wake); err != nil {
		unix.Close(epoll)
		unix.Close(wake)
		return nil, err
	}
	go r.run()
	return r, nil
}

func (r *reaper) add(fd int) error {
	err := unix.EpollCtl(r.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
	if err != nil {
		return fmt.Errorf("waiting for a descriptor: %w", err)
	}
	return nil
}

// watch calls announce, and then c.ended, from the reaper's goroutine, when the child
// has ended. It takes over the child's pidfd, unless it returns an error.
func (r *reaper) watch(c *child, announce func()) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.pidfd < 0 {
		return errors.New("the kernel has no pidfd: Linux 5.4 or newer is needed")
	}
	if err := r.add(c.pidfd); err != nil {
		return err
	}
	r.children[c.pidfd] = c
	announce()
	return nil
}

func (r *reaper) run() {
	defer close(r.done)
	events := make([]unix.EpollEvent, 64)
	for {
		n, err := unix.EpollWait(r.epoll, events, -1)
		if err != nil && err != unix.EINTR {
			panic(fmt.Sprintf("supervise: waiting for children: %v", err)) // only a descriptor closed by others
		}
		for _, event := range events[:max(n, 0)] {
			if int(event.Fd) == r.wake {
				return
			}
			r.reap(int(event.Fd))
		}
	}
}

func (r *reaper) reap(pidfd int) {
	r.mu.Lock()
	c := r.children[pidfd]
	r.mu.Unlock()
	status, ok := c.group.reap()
	if !ok {
		return
	}
	r.mu.Lock()
	delete(r.children, pidfd)
	r.mu.Unlock()
	// Closing it is not enough: a child that is just being started elsewhere holds a
	// copy until it executes, and the instance watches as long as there is one.
	unix.EpollCtl(r.epoll, unix.EPOLL_CTL_DEL, pidfd, nil)
	unix.Close(pidfd)
	c.ended(status, time.Now())
	close(c.exited)
}

// close ends the reaper. A child that is still watched is not waited for any more.
func (r *reaper) close() {
	unix.Write(r.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	<-r.done
	for pidfd := range r.children {
		unix.Close(pidfd)
	}
	unix.Close(r.wake)
	unix.Close(r.epoll)
}

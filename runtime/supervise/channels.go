package supervise

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// channels are the socket pairs between processes that are about to be started. A pair
// is made for the first of its two processes; the end of the other waits here. It
// belongs to the starter's thread.
type channels struct {
	waiting map[string]int
	closed  bool
}

// end returns an end of a channel, which the caller closes after the start. The peer
// sees the end of the stream once no process has it.
func (c *channels) end(name string) (int, error) {
	if fd, ok := c.waiting[name]; ok {
		delete(c.waiting, name)
		return fd, nil
	}
	if c.closed {
		return -1, fmt.Errorf("channel %q: the session ends", name)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("making channel %q: %w", name, err)
	}
	c.waiting[name] = pair[1]
	return pair[0], nil
}

// close closes the ends that wait, so that no process waits for a peer that never comes.
func (c *channels) close() {
	for name, fd := range c.waiting {
		unix.Close(fd)
		delete(c.waiting, name)
	}
	c.closed = true
}

package relaytest

import (
	"io"
	"sync"

	"github.com/cosim-go/cosim/relay/internal/pipe"
)

// Pipe returns the two ends of a connection in memory that holds nothing: a Write returns when
// the far end has read all of it, as with [net.Pipe]. Using an end that is closed fails with
// [io.ErrClosedPipe], and so does writing to a far end that is closed.
func Pipe() (client, server Conn) {
	there, back := newHalf(), newHalf()
	return &memoryConn{in: back, out: there}, &memoryConn{in: there, out: back}
}

// BufferedPipe is like [Pipe] with room for size bytes in each direction: a Write returns when
// the last byte is in there. A size below 1 counts as 1.
func BufferedPipe(size int) (client, server Conn) { return pipe.New(max(size, 1)) }

type memoryConn struct{ in, out *half }

func (c *memoryConn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *memoryConn) Write(p []byte) (int, error) { return c.out.write(p) }

func (c *memoryConn) CloseWrite() error {
	c.out.end(&c.out.ended)
	return nil
}

func (c *memoryConn) Close() error {
	c.out.end(&c.out.ended)
	c.in.end(&c.in.abandoned)
	return nil
}

// A half is one direction of a connection. Everybody waits on the condition and nobody on the
// mutex, so that a bubble of synctest knows who is blocked.
type half struct {
	mu        sync.Mutex
	changed   sync.Cond
	waiting   []byte // written and not read; the writer's own
	busy      bool   // somebody is in write
	ended     bool   // the writing side is closed
	abandoned bool   // the reading side is closed
}

func newHalf() *half {
	h := &half{}
	h.changed.L = &h.mu
	return h
}

func (h *half) end(flag *bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*flag = true
	h.changed.Broadcast()
}

func (h *half) over() bool { return h.ended || h.abandoned }

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(p) > 0 && len(h.waiting) == 0 && !h.over() {
		h.changed.Wait()
	}
	switch {
	case h.abandoned:
		return 0, io.ErrClosedPipe
	case len(p) > 0 && len(h.waiting) == 0:
		return 0, io.EOF
	}
	n := copy(p, h.waiting)
	h.waiting = h.waiting[n:]
	h.changed.Broadcast()
	return n, nil
}

func (h *half) write(p []byte) (n int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.busy && !h.over() {
		h.changed.Wait()
	}
	if h.over() {
		return 0, io.ErrClosedPipe
	}
	h.busy = true
	n = h.lend(p)
	h.busy = false
	h.changed.Broadcast()
	if n < len(p) {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

// lend lets the reader take from p itself and returns how much it took.
func (h *half) lend(p []byte) int {
	h.waiting = p
	h.changed.Broadcast()
	for len(h.waiting) > 0 && !h.over() {
		h.changed.Wait()
	}
	left := len(h.waiting)
	h.waiting = nil
	return len(p) - left
}

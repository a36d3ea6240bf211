package pipe

import (
	"io"
	"sync"
)

// smallestRing is what a direction takes at first, in bytes.
const smallestRing = 4 << 10

// A half is one direction of a connection.
type half struct {
	mu        sync.Mutex
	changed   sync.Cond
	size      int    // bytes that it may hold
	ring      []byte // what it holds now, and room
	start     int    // offset of the first byte
	held      int    // bytes from there on, around the end
	waiting   int    // in changed
	busy      bool   // somebody is in write
	ended     bool   // the writing side is closed
	abandoned bool   // the reading side is closed
}

func newHalf(size int) *half {
	h := &half{size: size}
	h.changed.L = &h.mu
	return h
}

func (h *half) end(flag *bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*flag = true
	if h.abandoned {
		h.ring, h.start, h.held = nil, 0, 0
	}
	h.changed.Broadcast()
}

func (h *half) over() bool { return h.ended || h.abandoned }

func (h *half) wait() {
	h.waiting++
	h.changed.Wait()
	h.waiting--
}

func (h *half) wake() {
	if h.waiting > 0 {
		h.changed.Broadcast()
	}
}

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(p) > 0 && h.held == 0 && !h.over() {
		h.wait()
	}
	switch {
	case h.abandoned:
		return 0, io.ErrClosedPipe
	case len(p) > 0 && h.held == 0:
		return 0, io.EOF
	}
	n := h.take(p)
	h.wake()
	return n, nil
}

func (h *half) write(p []byte) (n int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.busy && !h.over() {
		h.wait()
	}
	if h.over() {
		return 0, io.ErrClosedPipe
	}
	h.busy = true
	for n < len(p) && !h.over() {
		if h.held == h.size {
			h.wait()
			continue
		}
		n += h.put(p[n:])
		h.wake()
	}
	h.busy = false
	if n < len(p) {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

func (h *half) tryWrite(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.over():
		return 0, io.ErrClosedPipe
	case h.busy:
		return 0, nil
	}
	n := h.put(p)
	h.wake()
	return n, nil
}

// put copies as much of p as there is room for.
func (h *half) put(p []byte) int {
	n := min(len(p), h.size-h.held)
	h.grow(h.held + n)
	end := (h.start + h.held) % max(len(h.ring), 1)
	first := copy(h.ring[end:], p[:n])
	copy(h.ring, p[first:n])
	h.held += n
	return n
}

// grow makes the ring hold at least so many bytes.
func (h *half) grow(need int) {
	if need <= len(h.ring) {
		return
	}
	ring := make([]byte, min(h.size, max(need, 2*len(h.ring), smallestRing)))
	h.held = h.take(ring[:h.held])
	h.ring, h.start = ring, 0
}

// take moves what is held to p, as much as p has room for.
func (h *half) take(p []byte) int {
	n := min(len(p), h.held)
	first := copy(p[:n], h.ring[h.start:])
	copy(p[first:n], h.ring)
	h.held -= n
	if h.start += n; h.start >= len(h.ring) {
		h.start -= len(h.ring)
	}
	if h.held == 0 {
		h.start = 0
	}
	return n
}

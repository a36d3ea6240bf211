// Package inbox hands the frames of one request from whoever reads a connection to the one
// who handles the request.
//
// The reader never waits: an [Inbox] takes copies until it is full, into buffers that all
// inboxes of the program share. An inbox that is empty is a few hundred bytes.
package inbox

import (
	"context"
	"errors"
	"sync"

	"github.com/cosim-go/cosim/relay/frame"
)

// defaultMax is how many bytes of bodies an inbox holds unless New is told otherwise.
const defaultMax = 64 << 20

var (
	// ErrFull is the error of a frame for which there is no room.
	ErrFull = errors.New("inbox: full")

	// ErrClosed is the error of a frame that comes after Close or Drop.
	ErrClosed = errors.New("inbox: closed")
)

// An Inbox holds frames in the order in which they came. Put, PutFrame, Close and Drop are safe
// for concurrent use; Next and TryNext are for one goroutine at a time.
type Inbox struct {
	mu      sync.Mutex
	max     int
	held    int // bytes of bodies
	queue   queue
	wake    chan struct{} // made when somebody waits for the first time
	waiting bool
	closed  bool
	reason  error
	frame   frame.Frame
}

// New returns an inbox for at most maxBytes bytes of bodies, 64 MiB for 0 and less. There is
// nothing to free: what is dropped with an inbox is garbage. Drop gives buffers back sooner.
func New(maxBytes int) *Inbox {
	if maxBytes <= 0 {
		maxBytes = defaultMax
	}
	return &Inbox{max: maxBytes}
}

// Put takes a copy of a frame's body, one that [frame.Decode] or [frame.Check] took. It fails
// with [ErrFull] when body does not fit, [ErrClosed] after the end, and never waits.
func (b *Inbox) Put(body []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.room(len(body)); err != nil {
		return err
	}
	b.queue.put(body)
	b.took(len(body))
	return nil
}

// PutFrame is Put for a frame that is not encoded yet. It fails with [frame.ErrEncode] too.
func (b *Inbox) PutFrame(f *frame.Frame) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ErrClosed
	}
	size, err := b.queue.encode(f)
	if err != nil {
		return err
	}
	if err := b.room(size); err != nil {
		b.queue.undo(size)
		return err
	}
	b.took(size)
	return nil
}

func (b *Inbox) room(size int) error {
	switch {
	case b.closed:
		return ErrClosed
	case size > b.max-b.held:
		return ErrFull
	}
	return nil
}

func (b *Inbox) took(size int) {
	b.held += size
	b.stir()
}

// stir wakes the one who waits, if somebody does.
func (b *Inbox) stir() {
	if b.waiting {
		b.waiting = false
		b.wake <- struct{}{}
	}
}

// Next returns the next frame and waits for it. The frame is the inbox's, and it and all that
// it refers to are valid until the next call of Next, TryNext or Release. After Close it
// returns what is there and then the reason; it returns the cause of ctx when that ends first.
func (b *Inbox) Next(ctx context.Context) (*frame.Frame, error) {
	for {
		b.mu.Lock()
		f, err := b.next()
		if f != nil || err != nil {
			b.mu.Unlock()
			return f, err
		}
		if b.wake == nil {
			b.wake = make(chan struct{}, 1)
		}
		b.waiting = true
		b.mu.Unlock()
		select {
		case <-b.wake:
		case <-ctx.Done():
			b.forgo()
			return nil, context.Cause(ctx)
		}
	}
}

// forgo ends waiting.
func (b *Inbox) forgo() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.waiting {
		<-b.wake
	}
	b.waiting = false
}

// TryNext is Next without waiting: it returns false when no frame is there now, also after Close.
func (b *Inbox) TryNext() (*frame.Frame, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, _ := b.next()
	return f, f != nil
}

// Release gives back the frame that Next or TryNext returned last, as their next call would: the
// buffer of the last frame is free before the inbox is dropped.
func (b *Inbox) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue.release()
}

func (b *Inbox) next() (*frame.Frame, error) {
	body, ok := b.queue.next()
	if !ok {
		return nil, b.reason
	}
	b.held -= len(body)
	if err := frame.Decode(body, &b.frame); err != nil {
		return nil, err
	}
	return &b.frame, nil
}

// Close says that nothing more comes, and why: [io.EOF] for a good end. The first reason stays.
func (b *Inbox) Close(reason error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.closed, b.reason = true, reason
	b.stir()
}

// Drop forgets what is there. Put fails with [ErrClosed] from now on, and Next with the reason
// of Close, or ErrClosed. The frame that Next returned last stays valid.
func (b *Inbox) Drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue.drop()
	if !b.closed {
		b.closed, b.reason = true, ErrClosed
	}
	b.stir()
}

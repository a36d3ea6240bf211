package outbox

import (
	"errors"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/buffer"
)

// maxTurns is how many buffers in a row a caller of Flush writes. It would find more and more
// while others go on; a goroutine has the time for that.
const maxTurns = 8

// errWriteCount is the error of a link that breaks the rules of [io.Writer].
var errWriteCount = errors.New("a Write of more bytes than there were, or of less than none")

// Flush starts writing what is queued. It writes what the link takes at once and leaves the
// rest to a goroutine; it never waits for the link. While somebody is writing it returns at
// once: whoever writes goes on until nothing is queued.
func (o *Outbox) Flush() {
	o.mu.Lock()
	o.flush()
	o.mu.Unlock()
}

// flush is Flush for who has the lock, which is free in between.
func (o *Outbox) flush() {
	if o.busy || o.corked || o.err != nil {
		return
	}
	o.busy = true
	for turn := 0; ; turn++ {
		b := o.queue.take()
		if b == nil {
			o.busy = false
			return
		}
		if turn == maxTurns {
			o.delegate(b)
			return
		}
		o.mu.Unlock()
		n, err := o.link.try(b.B)
		o.mu.Lock()
		o.took(n)
		b.Read = n
		switch {
		case err != nil:
			o.fail(err)
		case n < len(b.B):
			o.delegate(b)
			return
		}
		b.Free()
	}
}

// delegate lets a goroutine write b and what is queued.
func (o *Outbox) delegate(b *buffer.Buffer) {
	if o.err != nil {
		b.Free()
		o.busy = false
		return
	}
	o.done.Add(1)
	go o.writeAll(b)
}

// writeAll writes b and what is queued, and waits for the link.
func (o *Outbox) writeAll(b *buffer.Buffer) {
	defer o.done.Done()
	for b != nil {
		err := o.link.write(b.B[b.Read:])
		b.Free()
		o.mu.Lock()
		if err != nil {
			o.fail(err)
		}
		if b = o.queue.take(); b == nil {
			o.busy = false
		}
		o.mu.Unlock()
	}
}

// wrote is took for who does not have the lock.
func (o *Outbox) wrote(n int) {
	o.mu.Lock()
	o.took(n)
	o.mu.Unlock()
}

// took takes note of bytes that the link took.
func (o *Outbox) took(n int) {
	if n == 0 || o.err != nil {
		return
	}
	o.waiters.wake(o.written.Add(uint64(n)))
	o.stall.moved(o.Full())
}

// ioError gives an error of a link its kind.
func ioError(err error) error {
	if err == nil {
		return nil
	}
	return frame.Errorf(frame.ErrIO, "write: %w", err)
}

package call

import (
	"bytes"
	"sync"

	"github.com/cosim-go/cosim/relay/frame"
)

// arrived takes note of a CHUNK of the response.
func (c *Call) arrived(f *frame.Frame) {
	c.mu.Lock()
	r := c.response(f.StreamID)
	overrun := r == nil || r.credit.Arrive() != nil
	if r != nil {
		r.arrived++
	}
	first := overrun && !c.overrun
	c.overrun = c.overrun || overrun
	if overrun && c.failure == nil {
		c.failure = errOverrun // at once: what is in the queue is not for the caller any more
	}
	opened := c.opened
	c.mu.Unlock()
	if first && opened {
		c.spawn(c.refuseOverrun)
	}
}

// response returns the stream of an id, which may be a new one: its STREAM_START is perhaps not read yet. It
// returns nil when there are too many. The lock is held.
func (c *Call) response(streamID []byte) *response {
	for i := len(c.responses) - 1; i >= 0; i-- {
		if bytes.Equal(c.responses[i].id, streamID) {
			return c.responses[i]
		}
	}
	if len(c.responses) == maxStreams {
		return nil
	}
	r := &response{id: bytes.Clone(streamID)}
	c.responses = append(c.responses, r)
	return r
}

// consume counts what the last event held as consumed.
func (c *Call) consume() {
	r := c.held
	if r == nil {
		return
	}
	c.held = nil
	grant := r.credit.Consume()
	if c.waiters.Load() > 0 {
		grant += r.credit.Flush()
	}
	c.grant(r, grant)
}

// flush lets go what waits: frames of the arguments, and grants for the response.
func (c *Call) flush() {
	for i := 0; ; i++ {
		c.mu.Lock()
		if i >= len(c.responses) {
			c.mu.Unlock()
			break
		}
		r := c.responses[i]
		due := !r.ended
		c.mu.Unlock()
		if due {
			c.grant(r, r.credit.Flush())
		}
	}
	if c.batcher != nil {
		c.batcher.Flush()
	}
}

// grant grants CHUNKs of a stream. Where that fails the request has ended.
func (c *Call) grant(r *response, chunks uint64) {
	if chunks == 0 {
		return
	}
	f := grants.Get().(*frame.Frame)
	*f = frame.NewCredit(c.link.ID(), r.id, chunks, frame.ResponseDirection)
	c.link.Send(c.life, f)
	*f = frame.Frame{}
	grants.Put(f)
}

// grants are frames that no grant uses. Grants are many, and a Link may let a frame escape.
var grants = sync.Pool{New: func() any { return new(frame.Frame) }}

// unexpected returns an error of the response.
func unexpected(format string, args ...any) error {
	return frame.Errorf(frame.ErrProtocol, format, args...)
}

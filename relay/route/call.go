package route

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
	"github.com/cosim-go/cosim/relay/stats"
)

// A Call is a request of the engine with a channel for its response, as [Switch.Open] returns it. It is a
// [call.Link]: package call makes streams of it.
type Call struct {
	s       *Switch
	in      *inbox.Inbox
	reading sync.Mutex                         // held by who reads from in
	unread  [frame.TypePolicy + 1]atomic.Int32 // frames in in by type, without the last

	// All below is guarded by Switch.mu.
	request  request
	onCredit func(*frame.Frame)
	onChunk  func(*frame.Frame)
	limits   frame.Limits
	last     *frame.Frame // the end of the response, when there was no room for it; comes after what is in in
}

var _ call.Batcher = (*Call)(nil)

// ID returns the id of the request.
func (c *Call) ID() frame.ID { return c.request.rid }

// RoutingID returns the id that the switch gave to the request.
func (c *Call) RoutingID() frame.ID { return c.request.xid }

// Limits returns what the host that serves the request could take when the request was made.
func (c *Call) Limits() frame.Limits { return c.limits }

// Send sends a frame of the request's body: see [call.Link]. A CREDIT that comes after the end of the request is no
// failure. A frame that is too long for the host ends the request, with the code FRAME_TOO_LARGE, and fails with
// [frame.ErrFrameTooLarge].
func (c *Call) Send(ctx context.Context, f *frame.Frame) error { return c.send(ctx, f, false) }

// Queue is Send for a frame that others follow: see [call.Batcher].
func (c *Call) Queue(ctx context.Context, f *frame.Frame) error { return c.send(ctx, f, true) }

// Flush lets go what was held back.
func (c *Call) Flush() { c.request.dest.out.Flush() }

func (c *Call) send(ctx context.Context, f *frame.Frame, hold bool) error {
	if err := c.s.await(ctx, c.request.dest); err != nil {
		return err
	}
	t := c.s.turn()
	defer c.s.end(t)
	err := c.s.fromEngine(t, &c.request, f, hold)
	if err == nil {
		return nil
	}
	switch KindOf(err) {
	case ErrUnknownRequest, ErrMasterDied:
		return call.ErrEnded
	}
	return err
}

// Next returns the next frame of the response: see [call.Link]. Where the request was made without OnCredit, the CREDIT
// frames for its body are among them.
func (c *Call) Next(ctx context.Context) (*frame.Frame, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	f, err := c.in.Next(ctx)
	switch {
	case err == nil:
		return c.taken(f), nil
	case err == io.EOF:
		if last := c.takeLast(); last != nil {
			return last, nil
		}
	case errors.Is(err, inbox.ErrClosed):
		err = errAbandoned
	}
	return nil, err
}

// TryNext is Next without the wait.
func (c *Call) TryNext() (*frame.Frame, bool) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if f, ok := c.in.TryNext(); ok {
		return c.taken(f), true
	}
	last := c.takeLast()
	return last, last != nil
}

// taken takes note of a frame that is read. The last one of a response is copied, so that its buffer is free: many
// callers do not ask for more.
func (c *Call) taken(f *frame.Frame) *frame.Frame {
	if f.Type.Terminal() {
		f = f.Clone()
		c.in.Release()
		return f
	}
	c.unread[f.Type].Add(-1)
	return f
}

var errAbandoned = errors.New("the call was closed")

// takeLast returns the end of the response that had no room, once.
func (c *Call) takeLast() *frame.Frame {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	last := c.last
	c.last = nil
	return last
}

// Cancel cancels the request: see [Switch.Cancel]. One that has ended is no error.
func (c *Call) Cancel(force bool, reason frame.CancelReason) error {
	t := c.s.turn()
	defer c.s.end(t)
	if c.request.live {
		c.s.cancel(t, &c.request, force, reason)
	}
	return nil
}

// Drop counts a frame that could not be taken.
func (c *Call) Drop(r stats.Reason, t frame.Type) { c.s.counters.Drop(r, t) }

// Close gives the request up. One that still runs is cancelled with the code ABORTED; what had come of its response and
// was not read counts as dropped, for the reason channel_closed. Next fails afterwards. It may be called again.
func (c *Call) Close() error {
	t := c.s.turn()
	abandoned := c.request.live
	if abandoned {
		c.s.cancel(t, &c.request, false, abandonedReason)
	}
	c.s.end(t)
	c.in.Drop()
	if abandoned {
		c.dropUnread()
	}
	return nil
}

var abandonedReason = frame.CancelReason{
	Code: []byte(call.CodeAborted), Attribution: frame.AttributionInternal, Message: []byte("nobody waits for the response"),
}

// dropUnread counts what nobody has read.
func (c *Call) dropUnread() {
	c.reading.Lock() // who reads has learnt that it is over
	defer c.reading.Unlock()
	for i := range c.unread {
		for range c.unread[i].Swap(0) {
			c.s.counters.Drop(stats.ChannelClosed, frame.Type(i))
		}
	}
}

// put gives the call a frame of its response. It returns false when there is no room. mu is held.
func (c *Call) put(f *frame.Frame, body []byte) bool {
	switch {
	case f.Type == frame.TypeCredit && c.onCredit != nil:
		c.onCredit(f)
		return true
	case f.Type == frame.TypeChunk && c.onChunk != nil:
		c.onChunk(f)
	}
	err := c.in.Put(body)
	if err == nil && !f.Type.Terminal() {
		c.unread[f.Type].Add(1)
	}
	if f.Type.Terminal() {
		if err != nil {
			c.last = f.Clone()
		}
		c.in.Close(io.EOF)
		return true
	}
	return err == nil
}

// finish gives the call an end of its response that the switch made. mu is held.
func (c *Call) finish(f *frame.Frame) {
	if err := c.in.PutFrame(f); err != nil {
		c.last = f.Clone()
	}
	c.in.Close(io.EOF)
}

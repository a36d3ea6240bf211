package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/stats"
)

// A caller is a connection of one who makes requests. Its frames are handled by one goroutine; each request has
// others.
type caller struct {
	s      *server
	in     *frames
	out    *outbox.Outbox
	limits frame.Limits
	waits  atomic.Int64  // bytes of payloads that wait, in both directions
	kicked chan struct{} // something is to be flushed
	lost   *stats.Counters

	mu       sync.Mutex
	closed   bool
	requests map[frame.ID]*request // that run
	ended    *stats.Ended
}

const (
	// requestQueue is how many bytes of one response wait for a caller that reads slowly before the response has to
	// wait: what the others have to say comes in between.
	requestQueue = 1 << 20

	// finishPatience is how long the last frames to a caller may take.
	finishPatience = time.Second
)

// call serves a caller that has said HELLO. It returns why it ended, io.EOF when the caller did that.
func (s *server) call(ctx context.Context, g *greeting, pid int) error {
	hello, err := g.first.Hello()
	if err != nil {
		return err
	}
	select {
	case s.callers <- struct{}{}:
		defer func() { <-s.callers }()
	default:
		return errTooMany
	}
	own := frame.DefaultLimits()
	own.MaxChunk, own.InitialCredit = s.engine.Limits().MaxChunk, s.engine.Limits().InitialCredit
	c := &caller{
		s: s, limits: own.Min(hello.Limits), kicked: make(chan struct{}, 1), lost: &stats.Counters{},
		requests: map[frame.ID]*request{}, ended: stats.NewEnded(nil),
	}
	g.seen.on, g.seen.read, g.first = false, nil, nil
	c.in = newFrames(g.in, c.limits)
	c.out = outbox.New(g.conn, &outbox.Options{Number: true, MaxFrame: c.limits.FrameLimit()})
	answer, err := frame.NewHello(frame.Hello{Limits: own, HandlerCapacity: frame.Some[uint64](0)})
	if err == nil {
		err = c.out.Send(&answer)
	}
	if err != nil {
		c.out.Close()
		return err
	}
	c.out.Flush()
	err = c.serve(ctx)
	if n := c.lost.DropsTotal(); n > 0 {
		s.log.Warn("frames of a caller were dropped", "pid", pid, "frames", n)
	}
	return err
}

// serve handles what comes until the connection ends, and then ends all requests.
func (c *caller) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var requests, rest sync.WaitGroup
	rest.Go(func() { c.flushKicked(ctx) })
	rest.Go(func() { // closes the connection, which ends read
		<-ctx.Done()
		c.closeTable()
		requests.Wait()
		limit, done := context.WithTimeout(context.Background(), finishPatience)
		defer done()
		c.out.Finish(limit)
	})
	err := c.read(ctx, &requests)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if failed := c.out.Room(ctx); errors.Is(failed, outbox.ErrStalled) {
		err = errors.New("it reads nothing")
	}
	cancel(errCallerGone)
	rest.Wait()
	return err
}

// closeTable lets no more requests begin.
func (c *caller) closeTable() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

var errCallerGone = &call.Cancelled{Code: call.CodeAborted, Attribution: frame.AttributionEnvironment, Message: "the caller has gone"}

// flushKicked writes what was queued by those who may not write.
func (c *caller) flushKicked(ctx context.Context) {
	for {
		select {
		case <-c.kicked:
			c.out.Flush()
		case <-ctx.Done():
			return
		}
	}
}

func (c *caller) kick() {
	select {
	case c.kicked <- struct{}{}:
	default:
	}
}

func (c *caller) read(ctx context.Context, requests *sync.WaitGroup) error {
	for {
		f, body, err := c.in.next()
		if err == nil {
			err = c.handle(ctx, requests, f, body)
		}
		if err == nil && c.out.Full() {
			err = c.out.Room(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// handle takes a frame. An error ends the caller.
func (c *caller) handle(ctx context.Context, requests *sync.WaitGroup, f *frame.Frame, body []byte) error {
	if !f.RoutingID.IsZero() {
		return frame.Errorf(frame.ErrProtocol, "a %s frame with a routing id, which only a switch gives", f.Type)
	}
	switch f.Type {
	case frame.TypeReq:
		return c.begin(ctx, requests, f)
	case frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd, frame.TypeErr, frame.TypeCloseStream:
		if r := c.find(f.ID); r == nil || !r.put(f, body) {
			c.late(f)
		}
	case frame.TypeCredit:
		// One for a request that has ended is moot.
		if r := c.find(f.ID); r != nil && f.CreditDirection() == frame.ResponseDirection {
			r.put(f, body)
		}
	case frame.TypeCancel:
		if r := c.find(f.ID); r != nil {
			r.cancelled(f.ForceKill.Or(false), call.CancelledFrom(f.CancelReason()))
		}
	default:
		return frame.Errorf(frame.ErrProtocol, "a %s frame is not a caller's to send", f.Type)
	}
	return nil
}

func (c *caller) find(id frame.ID) *request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests[id]
}

// late counts a frame that belongs to no request that runs.
func (c *caller) late(f *frame.Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended.Recent(f.ID) {
		c.lost.Straggler(f.Type)
		return
	}
	c.lost.Drop(stats.NoRoute, f.Type)
}

// begin takes a REQ.
func (c *caller) begin(ctx context.Context, requests *sync.WaitGroup, f *frame.Frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	refusal := &call.Error{Attribution: frame.AttributionInternal}
	switch {
	case c.closed:
		return context.Cause(ctx)
	case c.requests[f.ID] != nil:
		return frame.Errorf(frame.ErrProtocol, "a second REQ of request %s, which runs", f.ID)
	case f.Cap == nil:
		refusal.Code, refusal.Message = "INVALID_REQUEST", "a REQ without a cap"
	case len(f.Payload) > 0:
		refusal.Code, refusal.Message = call.CodeProtocolError, "a REQ with a payload: arguments are streams"
	case len(c.requests) >= c.s.options.MaxRequests:
		refusal.Code, refusal.Attribution = call.CodeAborted, frame.AttributionResource
		refusal.Message = fmt.Sprintf("%d requests of this caller run, and more are not taken", len(c.requests))
	default:
		r := newRequest(c, f)
		c.requests[f.ID] = r
		requests.Go(func() { r.serve(ctx) })
		return nil
	}
	c.ended.Add(f.ID)
	err := c.out.Send(errFrame(f.ID, refusal))
	c.out.Flush()
	return err
}

// end forgets a request, whose end is about to be sent.
func (c *caller) end(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.requests, r.id)
	c.ended.Add(r.id)
}

package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
)

// A request is one that a caller has running.
type request struct {
	c    *caller
	id   frame.ID
	what call.Request
	own  bool                    // for the gateway itself
	body *inbox.Inbox            // what waits for the handler
	stop context.Context         // ends the request in the words of its cause
	fail context.CancelCauseFunc // of stop
	held atomic.Int64            // what of the caller's bytes that wait is this request's

	mu     sync.Mutex
	over   bool      // body takes no more
	link   call.Link // nil until it is admitted
	cancel *cancel   // that came before
}

// A cancel is what a CANCEL asks for.
type cancel struct {
	force  bool
	reason *call.Cancelled
}

func newRequest(c *caller, f *frame.Frame) *request {
	info := f.ReqInfo()
	r := &request{c: c, id: f.ID, own: isStatus(f), body: inbox.New(c.s.options.MaxQueued)}
	r.what = call.Request{
		ID: f.ID, Cap: string(f.Cap), Preferred: preferred(f), Cartridge: string(info.TargetCartridge), Parent: info.ParentRID,
		ContentType: string(f.ContentType), Meta: f.Meta.Clone(), OnCredit: r.credited, OnChunk: r.arrived,
	}
	r.stop, r.fail = context.WithCancelCause(context.Background())
	return r
}

// overhead is what a frame that waits counts beside what it carries, in bytes.
const overhead = 256

// weight returns what a frame counts while it waits, in bytes.
func weight(f *frame.Frame) int64 {
	return int64(overhead + len(f.Payload) + len(f.Meta.Raw()) + len(f.StreamID) + len(f.ContentType) + len(f.MediaURN) + len(f.Cap))
}

// wait counts bytes that wait from now on, or not any more. It returns false when there are too many.
func (r *request) wait(n int64) bool {
	r.held.Add(n)
	return r.c.waits.Add(n) <= int64(r.c.s.options.MaxQueued)
}

// put takes a frame for the handler. It returns false when the request has ended.
func (r *request) put(f *frame.Frame, body []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return false
	}
	if !r.wait(weight(f)) || r.body.Put(body) != nil {
		r.over = true
		r.fail(tooMuch(r.c, "for the handler"))
	}
	return true
}

func tooMuch(c *caller, where string) *call.Error {
	return &call.Error{
		Code: call.CodeAborted, Attribution: frame.AttributionResource,
		Message: fmt.Sprintf("more than %d bytes wait %s", c.s.options.MaxQueued, where),
	}
}

// credited passes on a CREDIT for the arguments. It is called with the switch locked.
func (r *request) credited(f *frame.Frame) {
	out := *f
	out.ID, out.RoutingID = r.id, frame.ID{}
	if r.c.out.Send(&out) == nil {
		r.c.kick()
	}
}

// arrived counts a CHUNK of the response, which waits for the caller from now on. It is called with the switch locked.
func (r *request) arrived(f *frame.Frame) {
	if !r.wait(weight(f)) {
		r.fail(tooMuch(r.c, "for the caller"))
	}
}

// cancelled takes a CANCEL.
func (r *request) cancelled(force bool, reason *call.Cancelled) {
	r.mu.Lock()
	link := r.link
	if link == nil {
		r.cancel = &cancel{force, reason}
		r.fail(reason) // ends the wait for admission
	}
	r.mu.Unlock()
	if link != nil {
		link.Cancel(force, reason.Reason())
	}
}

// serve carries the request to its end.
func (r *request) serve(ctx context.Context) {
	defer r.fail(nil)
	defer context.AfterFunc(ctx, func() { r.fail(context.Cause(ctx)) })()
	defer r.drop()
	link, err := r.open()
	if err == nil {
		err = r.carry(link)
		link.Close()
	}
	if err != nil {
		r.c.end(r)
		r.c.out.Send(errFrame(r.id, asError(err)))
		r.c.out.Flush()
	}
}

func (r *request) open() (call.Link, error) {
	if r.own {
		status, err := r.c.s.status()
		return newAnswer(r.id, statusMedia, status, r.c.limits), err
	}
	return r.c.s.engine.Open(r.stop, r.what)
}

// carry carries the frames of a request that is admitted. It returns nil when the end of the response was sent, or else
// what the end is to be.
func (r *request) carry(link call.Link) error {
	r.mu.Lock()
	r.link = link
	early := r.cancel
	r.mu.Unlock()
	if early != nil { // it was admitted just before it was cancelled
		link.Cancel(early.force, early.reason.Reason())
		return early.reason
	}
	if f, err := admission(r.id, link.Limits()); err == nil {
		r.c.out.Send(&f)
	}
	over, done := context.WithCancel(r.stop)
	var sender sync.WaitGroup
	sender.Go(func() { r.send(over, link) })
	err := r.respond(link)
	if err != nil {
		link.Cancel(false, asReason(err))
	}
	done()
	sender.Wait()
	return err
}

// send carries the body to the handler.
func (r *request) send(ctx context.Context, link call.Link) {
	for {
		f, err := r.body.Next(ctx)
		if err != nil {
			return
		}
		size := weight(f)
		err = link.Send(ctx, f)
		r.wait(-size)
		switch {
		case err == nil:
		case errors.Is(err, call.ErrEnded), ctx.Err() != nil, frame.KindOf(err) == frame.ErrFrameTooLarge:
			return // the switch has ended it
		default:
			r.fail(&call.Error{Code: call.CodeProtocolError, Attribution: frame.AttributionInternal, Message: err.Error()})
			return
		}
	}
}

// respond carries the response to the caller. It returns nil when its end was sent, or else what the end is to be.
func (r *request) respond(link call.Link) error {
	source := r.c.out.NewSource(requestQueue)
	for {
		f, ok := link.TryNext()
		if !ok {
			r.c.out.Flush()
			var err error
			if f, err = link.Next(r.stop); err != nil {
				return err
			}
		}
		if f.Type == frame.TypeChunk {
			r.wait(-weight(f))
		}
		last := f.Type.Terminal()
		if last {
			r.c.end(r)
		}
		out := *f
		out.ID, out.RoutingID = r.id, frame.ID{}
		err := r.c.out.Send(&out)
		if frame.KindOf(err) == frame.ErrFrameTooLarge || frame.KindOf(err) == frame.ErrEncode {
			return errTooLong
		}
		if err != nil || last {
			r.c.out.Flush()
			return nil // also for a connection that is dead
		}
		source.Sent(len(out.Payload) + overhead)
		if err := source.Room(r.stop); err != nil && r.stop.Err() != nil {
			return context.Cause(r.stop)
		}
	}
}

var errTooLong = &call.Error{
	Code: "FRAME_TOO_LARGE", Attribution: frame.AttributionInternal, Message: "a frame of the response is longer than the caller takes",
}

// drop forgets all that waits.
func (r *request) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.body.Drop()
	r.wait(-r.held.Load())
}

// asReason returns why a request ends as a CANCEL says it.
func asReason(err error) frame.CancelReason {
	var c *call.Cancelled
	if !errors.As(err, &c) {
		e := asError(err)
		c = &call.Cancelled{Code: e.Code, Attribution: e.Attribution, Message: e.Message}
	}
	return c.Reason()
}

// asError returns why a request ends as an ERR says it.
func asError(err error) *call.Error {
	var e *call.Error
	if errors.As(err, &e) {
		return e
	}
	var c *call.Cancelled
	if errors.As(err, &c) {
		return c.Terminal()
	}
	e = &call.Error{Code: call.CodeAborted, Attribution: frame.AttributionInternal, Message: err.Error()}
	if errors.Is(err, frame.ErrProtocol) {
		e.Code = call.CodeProtocolError
	}
	return e
}

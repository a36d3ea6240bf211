package route

import (
	"context"
	"errors"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
	"github.com/cosim-go/cosim/relay/stats"
)

// Send sends a frame of the engine, of which it keeps nothing. It is for who works with frames: see [Switch.Open].
//
// A REQ without a routing id makes a request without a channel, whose response [Switch.Read] returns: it goes to the
// cartridge that its meta names as the target, or to the master that serves its cap best, the preferred one first; it
// waits for admission, and fails as Open does. A REQ with a routing id has to be one from [Switch.Register].
//
// A STREAM_START, CHUNK, STREAM_END, END, ERR, CREDIT, CANCEL or CLOSE_STREAM goes where its request went, with
// its routing id or without. It fails with ErrUnknownRequest when there is no such request, except for a CREDIT of one
// that ended lately. None of them ends the request: its handler does, or [Switch.Cancel]. Anything else is ErrProtocol.
func (s *Switch) Send(ctx context.Context, f *frame.Frame, preferred string) error {
	own := *f
	if f.Type == frame.TypeReq && f.RoutingID.IsZero() {
		if f.Cap == nil {
			return errorf(ErrProtocol, "a REQ without a cap")
		}
		made := &request{rid: f.ID, urn: string(f.Cap)}
		info := f.ReqInfo()
		return s.admit(ctx, &call.Request{
			Cap: made.urn, Preferred: preferred, Cartridge: string(info.TargetCartridge), Parent: info.ParentRID,
		}, &own, made)
	}
	s.mu.Lock()
	r := s.lookUp(f)
	s.mu.Unlock()
	if r != nil {
		if err := s.await(ctx, r.dest); err != nil {
			return err
		}
	}
	t := s.turn()
	defer s.end(t)
	if r = s.lookUp(f); r == nil {
		return s.unknown(f)
	}
	return s.fromEngine(t, r, &own, false)
}

// lookUp returns the request that a frame from the engine belongs to, or nil: a routing id may be missing, but not be
// another one. mu is held.
func (s *Switch) lookUp(f *frame.Frame) *request {
	r := s.requests[f.ID]
	if r == nil || !f.RoutingID.IsZero() && f.RoutingID != r.xid {
		return nil
	}
	return r
}

// unknown returns what becomes of a frame from the engine that belongs to no request. mu is held.
func (s *Switch) unknown(f *frame.Frame) error {
	switch {
	case f.Type == frame.TypeReq:
		return errorf(ErrProtocol, "a REQ with a routing id, %s, that was not given to request %s", f.RoutingID, f.ID)
	case !isBody(f.Type):
		return errNotBody(f.Type)
	case f.Type == frame.TypeCredit && s.ended.Recent(f.ID):
		s.counters.Straggler(f.Type)
		return nil
	}
	return errorf(ErrUnknownRequest, "there is no request %s", f.ID)
}

func errNotBody(t frame.Type) error { return errorf(ErrProtocol, "a %s frame from the engine", t) }

// isBody reports whether a requester sends frames of the type, after its REQ.
func isBody(t frame.Type) bool {
	switch t {
	case frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd, frame.TypeErr,
		frame.TypeCredit, frame.TypeCancel, frame.TypeCloseStream:
		return true
	}
	return false
}

// await waits until a link has room. It fails when ctx ends first; a link that dies has room.
func (s *Switch) await(ctx context.Context, l *link) error {
	if !l.out.Full() {
		return nil
	}
	l.out.Flush()
	if l.out.Room(ctx) != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// fromEngine passes on a frame that the engine sends for a request. With hold it is not flushed. mu is held.
func (s *Switch) fromEngine(t *turn, r *request, f *frame.Frame, hold bool) error {
	f.ID, f.RoutingID = r.rid, r.xid
	switch {
	case f.Type == frame.TypeReq && r.live && !r.opened && r.origin == nil:
		return s.writeReq(t, r, f, hold)
	case f.Type == frame.TypeReq:
		return errorf(ErrProtocol, "a second REQ of request %s", r.rid)
	case !r.live:
		return s.unknown(f)
	case !isBody(f.Type):
		return errNotBody(f.Type)
	case !r.opened:
		return errorf(ErrProtocol, "a %s frame of request %s before its REQ", f.Type, r.rid)
	case r.bodyDone && f.Type.Flow():
		s.counters.Straggler(f.Type)
		return nil
	}
	if err := r.dest.out.Send(f); err != nil {
		return s.unsent(t, r, err)
	}
	if !hold || r.dest.out.Queued() >= flushSize {
		t.feed(r.dest)
	}
	s.passed(r, toHandler, f)
	return nil
}

// unsent takes care of a frame from the engine that an outbox refused.
func (s *Switch) unsent(t *turn, r *request, err error) error {
	switch frame.KindOf(err) {
	case frame.ErrFrameTooLarge:
		s.tooLarge(t, r)
		return err
	case frame.ErrEncode:
		return err
	}
	return &Error{ErrMasterDied, diedError(r.dest, err)}
}

// passed takes note of a frame that went by.
func (s *Switch) passed(r *request, w way, f *frame.Frame) {
	r.record(w, f)
	r.touch()
	if w == toHandler && f.Type.Terminal() {
		r.bodyDone = true
	}
}

// tooLarge ends a request that lives because one of its frames is longer than the host that it is for can take. mu is
// held.
func (s *Switch) tooLarge(t *turn, r *request) {
	s.abort(t, r, errTooLarge)
}

var errTooLarge = &call.Error{
	Code: codeTooLarge, Attribution: frame.AttributionInternal, Message: "a frame of the request is longer than a host takes",
}

// abort ends a request that lives with an ERR for its requester, and a CANCEL of the same words for its handler. mu is
// held.
func (s *Switch) abort(t *turn, r *request, answer *call.Error) {
	s.terminate(t, r, stats.KindErr, nil)
	s.sendCancel(t, r, false, frame.CancelReason{
		Code: []byte(answer.Code), Attribution: answer.Attribution, Message: []byte(answer.Message),
	})
	s.fail(t, r, answer)
}

// toEngine keeps a frame of a request without a channel for [Switch.Read], and counts one for which there is no room.
// mu is held.
func (s *Switch) toEngine(f *frame.Frame) bool {
	own := *f
	own.RoutingID = frame.ID{}
	if err := s.engine.PutFrame(&own); err != nil {
		s.counters.Drop(stats.ChannelClosed, f.Type)
		return false
	}
	return true
}

// Read returns the next frame of a response to a request without a channel, and waits for it. Its routing id is removed,
// and it borrows nothing. It fails with the cause of ctx, and with ErrClosed. Who does not read loses: requests whose
// frames find no room are cancelled.
func (s *Switch) Read(ctx context.Context) (*frame.Frame, error) {
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	f, err := s.engine.Next(ctx)
	if errors.Is(err, inbox.ErrClosed) {
		err = errClosed
	}
	if err != nil {
		return nil, err
	}
	return f.Clone(), nil
}

package route

import (
	"context"
	"log/slog"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

// handle handles a frame from a host. An error is the death of its master.
func (s *Switch) handle(ctx context.Context, t *turn, l *link, f *frame.Frame) (err error) {
	var to *link // that the frame went to
	switch f.Type {
	case frame.TypeReq:
		to, err = s.peerCall(t, l, f)
	case frame.TypeRelayNotify:
		s.notified(l, f)
	case frame.TypePolicy:
		err = errPolicy
	default:
		s.mu.Lock()
		if l.dead == nil {
			to = s.carry(t, l, f)
		}
		s.mu.Unlock()
	}
	s.finish(t)
	if err != nil {
		return err
	}
	t.letGo(ctx, to)
	t.letGo(ctx, l) // what it made the switch answer
	return nil
}

// flushSize is how many bytes gather in an outbox before they are written though more is at hand.
const flushSize = 64 << 10

// letGo writes what a link is to get, if that is much, and waits while it is too much: the link goes on to read, or dies,
// or ctx ends. mu is not held.
func (t *turn) letGo(ctx context.Context, l *link) {
	if l == nil || l.out.Queued() < flushSize {
		return
	}
	l.out.Flush()
	if l.out.Full() {
		t.flush()
		l.out.Room(ctx)
	}
}

// body returns the body of the frame that a link's reader read last.
func (l *link) body() []byte { return l.in.Wire()[frame.PrefixSize:] }

// carry passes on a frame of a request, and returns the link that it went to, if any. mu is held.
func (s *Switch) carry(t *turn, l *link, f *frame.Frame) *link {
	r := s.requests[f.ID]
	switch f.Type {
	case frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd, frame.TypeErr, frame.TypeLog, frame.TypeCredit:
		if !f.RoutingID.IsZero() || r.failedBy(l, f) {
			return s.carryResponse(t, l, r, f)
		}
		if r == nil || r.origin != l || r.bodyDone && f.Type.Flow() {
			s.stray(t, l, r, f)
			return nil
		}
		return s.carryBody(t, r, f)
	case frame.TypeCancel, frame.TypeCloseStream:
		if r == nil || !f.RoutingID.IsZero() && f.RoutingID != r.xid {
			return nil // of a request that has ended, or never was: nothing is left to do
		}
		if r.origin != l {
			s.stray(t, l, r, f)
			return nil
		}
		return s.carryBody(t, r, f)
	}
	s.counters.Drop(stats.NoRoute, f.Type)
	s.note(t, slog.LevelWarn, "a frame that has no place here", "master", l.id, "type", f.Type)
	return nil
}

// failedBy reports whether a frame without routing id is the ERR of the host that serves the request: some hosts give
// none to an ERR that they make themselves, where a cartridge died or does not start.
func (r *request) failedBy(l *link, f *frame.Frame) bool {
	return r != nil && f.Type == frame.TypeErr && r.dest == l && r.origin != l
}

// carryBody passes on a frame of the body of a peer call, or what its requester grants or asks of its handler.
func (s *Switch) carryBody(t *turn, r *request, f *frame.Frame) *link {
	head := f.Head()
	err := r.dest.out.Forward(r.origin.body(), &head, r.xid)
	if err != nil {
		s.undelivered(t, r, f, err)
		return nil
	}
	t.feed(r.dest)
	s.passed(r, toHandler, f)
	return r.dest
}

// carryResponse passes on a frame of a response. Only the host that serves the request can send one.
func (s *Switch) carryResponse(t *turn, l *link, r *request, f *frame.Frame) *link {
	if r == nil || r.dest != l || r.xid != f.RoutingID && !f.RoutingID.IsZero() {
		s.stray(t, l, r, f)
		return nil
	}
	s.passed(r, toRequester, f)
	if !f.Type.Terminal() {
		return s.answer(t, r, f)
	}
	kind := stats.KindEnd
	if f.Type == frame.TypeErr {
		kind = stats.KindErr
	}
	s.terminate(t, r, kind, nil)
	to := s.answer(t, r, f)
	s.endBody(t, r)
	return to
}

// endBody ends the body of a request that has ended before it: its handler's host waits for the end of both, and
// what the requester still sends goes nowhere.
func (s *Switch) endBody(t *turn, r *request) {
	if r.bodyDone {
		return
	}
	end := frame.NewBodyEnd(r.rid)
	end.RoutingID = r.xid
	r.dest.send(t, &end)
}

// answer passes on a frame of a response to whoever waits for it.
func (s *Switch) answer(t *turn, r *request, f *frame.Frame) *link {
	switch {
	case r.call != nil:
		if !r.call.put(f, r.dest.body()) {
			s.overrun(t, r, f)
		}
		return nil
	case r.origin == nil:
		if !s.toEngine(f) && r.live {
			s.cancel(t, r, false, abandonedReason)
		}
		return nil
	}
	head := f.Head()
	if err := r.origin.out.Forward(r.dest.body(), &head, r.xid); err != nil {
		s.undelivered(t, r, f, err)
		return nil
	}
	t.feed(r.origin)
	return r.origin
}

// overrun ends a request of the engine whose response does not fit into its channel: far more than its credit allows.
func (s *Switch) overrun(t *turn, r *request, f *frame.Frame) {
	s.counters.Drop(stats.CreditViolation, f.Type)
	s.abort(t, r, &call.Error{
		Code: call.CodeCreditViolation, Attribution: frame.AttributionInternal, Message: "the response does not fit into its channel",
	})
}

// undelivered takes care of a frame that an outbox refused. One that is too long ends its request; other errors are
// those of a link that is dead, which ends its requests in a moment.
func (s *Switch) undelivered(t *turn, r *request, f *frame.Frame, err error) {
	switch {
	case !refused(err):
		s.counters.Drop(stats.MasterDied, f.Type)
	case r.live:
		s.tooLarge(t, r)
	default: // it was the end of the response
		s.fail(t, r, errTooLarge)
	}
}

// refused reports whether an outbox refused a frame for what it is. Any other error is that of a dead link.
func refused(err error) bool {
	kind := frame.KindOf(err)
	return kind == frame.ErrFrameTooLarge || kind == frame.ErrEncode
}

// stray counts a frame that belongs to no request, or to one that its sender has nothing to do with. mu is held.
func (s *Switch) stray(t *turn, l *link, r *request, f *frame.Frame) {
	late := r == nil && s.ended.Recent(f.ID) ||
		r != nil && r.origin == l && r.bodyDone && f.RoutingID.IsZero() ||
		r != nil && !f.RoutingID.IsZero() && f.RoutingID != r.xid && s.ended.Recent(f.ID)
	if late {
		s.counters.Straggler(f.Type)
		s.note(t, slog.LevelDebug, "a late frame", "master", l.id, "type", f.Type, "rid", f.ID)
		return
	}
	s.counters.Drop(stats.NoRoute, f.Type)
	s.note(t, slog.LevelWarn, "a frame of no request", "master", l.id, "type", f.Type, "rid", f.ID)
}

// peerCall takes a REQ of a cartridge to the master that serves it best.
func (s *Switch) peerCall(t *turn, l *link, f *frame.Frame) (to *link, err error) {
	switch {
	case !f.RoutingID.IsZero():
		return nil, errorf(ErrProtocol, "a REQ with a routing id from the host: only the switch gives those")
	case f.Cap == nil:
		return nil, errorf(ErrProtocol, "a REQ without a cap from the host")
	}
	rt := s.routes.Load()
	dest, ok := rt.findPeer(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.dead != nil {
		return nil, nil
	}
	if now := s.routes.Load(); now != rt {
		dest, ok = now.findPeer(f)
	}
	if !ok {
		s.refuse(t, l, f, codeNoHandler, frame.AttributionEnvironment, "nobody serves "+string(f.Cap))
		return nil, nil
	}
	return s.beginPeer(t, l, dest, f), nil
}

// beginPeer registers a peer call and passes on its REQ.
func (s *Switch) beginPeer(t *turn, l, dest *link, f *frame.Frame) *link {
	r := &request{rid: f.ID, urn: string(f.Cap), origin: l, dest: dest, opened: true}
	if err := s.register(r); err != nil {
		s.refuse(t, l, f, call.CodeProtocolError, frame.AttributionInternal, err.Error())
		return nil
	}
	s.adopt(f.ReqInfo().ParentRID, r)
	head := f.Head()
	if err := dest.out.Forward(l.body(), &head, r.xid); err != nil {
		if refused(err) {
			s.terminate(t, r, stats.KindErr, nil)
			s.fail(t, r, errTooLarge)
		}
		return nil
	}
	t.feed(dest)
	r.record(toHandler, f)
	return dest
}

// refuse answers a REQ of a host that is not carried with an ERR, under a routing id of its own: a host takes none without.
func (s *Switch) refuse(t *turn, l *link, f *frame.Frame, code string, class frame.Attribution, text string) {
	info := frame.ErrInfo{Code: []byte(code), Attribution: class, Message: []byte(text)}
	answer, err := frame.NewErr(f.ID, info)
	if err != nil {
		return
	}
	answer.RoutingID = s.nextNumber()
	if s.requests[f.ID] == nil {
		s.ended.Add(f.ID) // what follows the REQ is late
	}
	l.send(t, &answer)
}

package cartridge

import (
	"bytes"
	"io"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

// read greets the host and takes its frames until the connection ends. It never waits for anything but the connection.
func (s *session) read(conn io.Reader) error {
	in := frame.NewReader(conn, &frame.ReaderOptions{Idle: func() error { s.out.Flush(); return nil }})
	if err := s.greet(in); err != nil {
		return err
	}
	for {
		f, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.take(f, in.Wire()[frame.PrefixSize:]); err != nil {
			return err
		}
	}
}

// greet exchanges HELLOs.
func (s *session) greet(in *frame.Reader) error {
	f, err := in.Next()
	if err == io.EOF {
		return frame.Errorf(frame.ErrHandshake, "the connection ended before the host's HELLO")
	}
	if err != nil {
		return err
	}
	hello, err := f.Hello()
	if err != nil {
		return err
	}
	s.limits = hello.Limits.Min(s.cartridge.o.Limits)
	m, pools := s.cartridge.Manifest(), s.pools.Pools()
	answer, err := frame.NewHello(frame.Hello{
		Limits: s.limits, Manifest: m.AppendJSON(nil), Pools: pools.AppendJSON(nil),
		HandlerCapacity: frame.Some(pools.Capacity()),
	})
	if err == nil {
		err = s.out.Send(&answer)
	}
	if err != nil {
		return err
	}
	in.SetMaxFrame(s.limits.FrameLimit())
	s.out.SetMaxFrame(s.limits.FrameLimit())
	return nil
}

// take handles a frame, whose body it may copy. An error ends the connection.
func (s *session) take(f *frame.Frame, body []byte) error {
	switch f.Type {
	case frame.TypeReq:
		s.begin(f)
	case frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd, frame.TypeErr, frame.TypeLog:
		s.flowFrame(f, body)
	case frame.TypeCredit:
		s.credit(f)
	case frame.TypeCancel:
		if r := s.find(f); r != nil {
			r.cancel(call.CancelledFrom(f.CancelReason()))
		}
	case frame.TypeCloseStream:
		if r := s.find(f); r != nil {
			r.closeStream(f.StreamID)
		} else {
			s.log.Warn("a CLOSE_STREAM for a request that is not served", "flow", f.ID)
		}
	case frame.TypeHeartbeat:
		s.heartbeat(f)
	case frame.TypePolicy:
		s.policy.set(&Policy{Meta: f.Meta.Clone(), Payload: bytes.Clone(f.Payload)})
	default:
		return frame.Errorf(frame.ErrProtocol, "a %v from the host", f.Type)
	}
	return nil
}

// find returns the request that a frame is for, nil for none.
func (s *session) find(f *frame.Frame) *Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[flow.Key{RID: f.ID, XID: f.RoutingID}]
}

// flowFrame hands a frame to the request whose body it is of, or to the peer call that it answers.
func (s *session) flowFrame(f *frame.Frame, body []byte) {
	s.mu.Lock()
	r, p := s.requests[flow.Key{RID: f.ID, XID: f.RoutingID}], s.peers[f.ID]
	if p != nil && p.returns(f) {
		p = nil // of a body that comes back: the peer call is served here
	} else if p != nil {
		r = nil
	}
	if f.Type == frame.TypeLog {
		r = nil
	}
	if p != nil && f.Type.Terminal() {
		delete(s.peers, f.ID)
		s.ended.Add(f.ID)
	}
	s.mu.Unlock()
	switch {
	case p != nil:
		p.take(f, body)
	case r != nil:
		r.take(f, body)
	default:
		s.lost(f)
	}
}

// lost counts a frame that is for nobody.
func (s *session) lost(f *frame.Frame) {
	s.mu.Lock()
	late := s.ended.Recent(f.ID)
	s.mu.Unlock()
	if late {
		s.counters.Straggler(f.Type)
		return
	}
	s.counters.Drop(stats.NoRoute, f.Type)
	s.log.Warn("a frame for a request that is not known", "flow", f.ID, "type", f.Type)
}

// credit hands a CREDIT to the one who sends in its direction. One that comes late is nothing wrong.
func (s *session) credit(f *frame.Frame) {
	switch f.CreditDirection() {
	case frame.ResponseDirection:
		if r := s.find(f); r != nil {
			r.gates.Grant(f, frame.ResponseDirection)
		}
	case frame.RequestDirection:
		s.mu.Lock()
		p := s.peers[f.ID]
		s.mu.Unlock()
		if p != nil && p.onCredit != nil {
			p.onCredit(f)
		}
	default:
		s.counters.Drop(stats.NoRoute, f.Type)
	}
}

// begin begins a request.
func (s *session) begin(f *frame.Frame) {
	key := flow.Key{RID: f.ID, XID: f.RoutingID}
	if s.find(f) != nil {
		s.counters.Drop(stats.NoRoute, f.Type)
		s.log.Warn("a REQ for a request that is served already", "flow", f.ID)
		return
	}
	h, e := s.handler(f)
	if e != nil {
		s.refuse(f, e)
		return
	}
	r := newRequest(s, f, h)
	s.mu.Lock()
	s.requests[key] = r
	if p := s.peers[f.ID]; p != nil {
		p.loop = r
	}
	s.mu.Unlock()
	place := s.pools.Enter(h.name)
	s.spawn(func() { r.run(place) })
}

// handler returns who serves a REQ, or why nobody does.
func (s *session) handler(f *frame.Frame) (*handler, *Error) {
	switch {
	case f.Cap == nil:
		return nil, &Error{Code: "INVALID_REQUEST", Attribution: frame.AttributionInternal, Message: "a REQ without a cap"}
	case len(f.Payload) > 0:
		return nil, &Error{Code: call.CodeProtocolError, Attribution: frame.AttributionInternal,
			Message: "a REQ with a payload: arguments come as streams"}
	}
	i, ok := s.index.FindBytes(f.Cap, "")
	if !ok {
		return nil, &Error{Code: "NO_HANDLER", Attribution: frame.AttributionEnvironment,
			Message: "no handler for " + string(f.Cap)}
	}
	return &s.cartridge.handlers[i], nil
}

// refuse answers a REQ that nobody serves.
func (s *session) refuse(f *frame.Frame, e *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended.Add(f.ID)
	s.sendErr(f.ID, f.RoutingID, e)
}

// sendErr sends an ERR.
func (s *session) sendErr(id, xid frame.ID, e *Error) {
	f, err := frame.NewErr(id, e.Info())
	if err != nil {
		panic("cartridge: an ERR that cannot be made: " + err.Error())
	}
	f.RoutingID = xid
	s.out.Send(&f)
}

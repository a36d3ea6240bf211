package route

import (
	"context"
	"errors"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
	"github.com/cosim-go/cosim/relay/stats"
)

var _ call.Opener = (*Switch)(nil)

// Open makes a request: it finds the master whose host serves the cap best, waits until a cartridge there has room, and
// writes the REQ. The [call.Link] that it returns is a *[Call], to be closed by the caller.
//
// With a parent that lives the request is cancelled when its parent is. An id that the request brings must not be that of
// one that runs. Open fails with ErrNoHandler, ErrAllMastersUnhealthy, ErrCartridgeUnavailable, ErrProtocol for an
// id that runs and a cap that two cartridges of one host claim, [frame.ErrEncode] or [frame.ErrFrameTooLarge] for a REQ
// that cannot be written, ErrMasterDied, ErrClosed, or the cause of ctx.
func (s *Switch) Open(ctx context.Context, r call.Request) (call.Link, error) {
	c, err := s.open(ctx, &r, nil)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Execute makes a request with a number as its id and a payload in its REQ, which is all of its body but the END, which
// the caller sends. Cartridges that take arguments as streams refuse a payload that is not empty. It fails as
// [Switch.Open] does.
func (s *Switch) Execute(ctx context.Context, cap string, payload []byte, contentType string) (call.Link, error) {
	s.mu.Lock()
	id := s.nextNumber()
	s.mu.Unlock()
	c, err := s.open(ctx, &call.Request{Cap: cap, ID: id, ContentType: contentType}, payload)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Register makes a request without writing its REQ, and returns the routing id that the switch gave it. The REQ is the
// caller's to send next, with [Switch.Send] or the link, and nothing else is sent before it. It fails as [Switch.Open]
// does.
func (s *Switch) Register(ctx context.Context, rid frame.ID, cap, preferred string) (xid frame.ID, l call.Link, err error) {
	return s.registered(s.admitted(ctx, &call.Request{Cap: cap, ID: rid, Preferred: preferred}, nil))
}

// RegisterForCartridge is Register for a request that a certain cartridge has to serve. The caller puts the id of the
// cartridge into the meta of the REQ: see [frame.ReqInfo].
func (s *Switch) RegisterForCartridge(ctx context.Context, rid frame.ID, cap, cartridgeID string) (xid frame.ID, l call.Link, err error) {
	return s.registered(s.admitted(ctx, &call.Request{Cap: cap, ID: rid, Cartridge: cartridgeID}, nil))
}

func (s *Switch) registered(c *Call, err error) (frame.ID, call.Link, error) {
	if err != nil {
		return frame.ID{}, nil, err
	}
	return c.request.xid, c, nil
}

// open makes a request and writes its REQ.
func (s *Switch) open(ctx context.Context, r *call.Request, payload []byte) (*Call, error) {
	req, err := reqOf(r, payload)
	if err != nil {
		return nil, err
	}
	return s.admitted(ctx, r, req)
}

// reqOf returns the REQ of a request, without its id.
func reqOf(r *call.Request, payload []byte) (*frame.Frame, error) {
	f := frame.NewReq(r.ID, []byte(r.Cap))
	f.Meta = r.Meta
	if payload != nil {
		f.Payload = payload
	}
	f.ContentType = []byte(r.ContentType)
	if r.ContentType == "" {
		f.ContentType = defaultContentType
	}
	if r.Cartridge != "" {
		var b frame.MetaBuilder
		for name, value := range r.Meta.All() {
			b.Raw(string(name), value.Raw())
		}
		frame.ReqInfo{TargetCartridge: []byte(r.Cartridge), ParentRID: f.ReqInfo().ParentRID}.Put(&b)
		meta, err := b.Meta()
		if err != nil {
			return nil, err
		}
		f.Meta = meta
	}
	return &f, nil
}

var defaultContentType = []byte(call.DefaultContentType)

// admitted waits until a request is admitted to the master that serves it best, registers it there, and writes its
// REQ, unless that is nil.
func (s *Switch) admitted(ctx context.Context, r *call.Request, req *frame.Frame) (*Call, error) {
	c := &Call{s: s, in: inbox.New(4 * s.options.MaxQueued), onCredit: r.OnCredit, onChunk: r.OnChunk}
	c.request = request{rid: r.ID, urn: r.Cap, call: c}
	if r.ID.IsZero() {
		c.request.rid = frame.NewUUID()
	}
	if err := s.admit(ctx, r, req, &c.request); err != nil {
		return nil, err
	}
	return c, nil
}

// admit is admitted for a request that is made already. Masters may come, go and change while it waits: then it looks
// for the best again.
func (s *Switch) admit(ctx context.Context, r *call.Request, req *frame.Frame, made *request) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for {
		rt := s.routes.Load()
		e, err := rt.find(r.Cap, r.Preferred, r.Cartridge)
		if err == nil {
			err = e.err
		}
		if err == nil {
			err = s.moveTo(ctx, &made.place, e.pool, e.urn)
		}
		if err == nil {
			err = s.await(ctx, e.link)
		}
		done := false
		if err == nil {
			done, err = s.begin(rt, e.link, r, req, made)
		}
		if done {
			return nil
		}
		if err != nil && !errors.Is(err, errDissolved) {
			made.place.leave()
			return err
		}
	}
}

// begin registers a request of the engine and writes its REQ. It returns false when the table is not rt any more.
func (s *Switch) begin(rt *routes, to *link, r *call.Request, req *frame.Frame, made *request) (bool, error) {
	t := s.turn()
	defer s.end(t)
	switch {
	case s.closed:
		return false, errClosed
	case s.routes.Load() != rt:
		return false, nil
	}
	made.dest = to
	if err := s.register(made); err != nil {
		return false, err
	}
	if !r.Parent.IsZero() {
		s.adopt(r.Parent, made)
	}
	if made.call != nil {
		made.call.limits = to.offer.limits
	}
	if req == nil {
		return true, nil
	}
	if err := s.writeReq(t, made, req, r.Batch); err != nil {
		return false, err
	}
	return true, nil
}

// writeReq writes the REQ of a request of the engine, which ends with an error.
func (s *Switch) writeReq(t *turn, r *request, req *frame.Frame, hold bool) error {
	req.ID, req.RoutingID = r.rid, r.xid
	r.opened = true
	r.record(toHandler, req)
	err := r.dest.out.Send(req)
	if err != nil {
		return s.unopened(t, r, err)
	}
	if !hold {
		t.feed(r.dest)
	}
	return nil
}

// unopened ends a request of the engine whose REQ an outbox refused.
func (s *Switch) unopened(t *turn, r *request, err error) error {
	answer := errTooLarge
	if refused(err) {
		s.terminate(t, r, stats.KindErr, nil)
	} else {
		s.terminate(t, r, stats.KindMasterDied, nil)
		answer = diedError(r.dest, err)
		err = &Error{ErrMasterDied, answer}
	}
	if r.call != nil {
		s.fail(t, r, answer)
	}
	return err
}

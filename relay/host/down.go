package host

import (
	"context"
	"errors"
	"log/slog"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

// take handles a frame from the relay. An error ends the relay. mu is held.
func (r *relay) take(head *frame.Head) error {
	switch head.Type {
	case frame.TypePolicy:
		r.h.takePolicy(r.in.Frame(), r.in.Wire())
		return nil
	case frame.TypeHello, frame.TypeHeartbeat, frame.TypeRelayNotify, frame.TypeRelayState:
		return frame.Errorf(frame.ErrProtocol, "a %v from the relay, which never carries one", head.Type)
	case frame.TypeLog:
		r.log(head)
		return nil
	}
	if head.RoutingID.IsZero() && !r.h.options.Unnumbered {
		return frame.Errorf(frame.ErrProtocol, "a %v of request %v without a routing id from the relay", head.Type, head.ID)
	}
	switch head.Type {
	case frame.TypeReq:
		return r.request(head)
	case frame.TypeCredit:
		r.credit(head)
	case frame.TypeCancel:
		r.cancel(head)
	case frame.TypeCloseStream:
		r.closeStream(head)
	default:
		r.carry(head)
	}
	return nil
}

// carry passes on a frame of a body or a response.
func (r *relay) carry(head *frame.Head) {
	h := r.h
	req, call := h.tables.find(flow.KeyOf(*head)), h.findCall(head.ID)
	switch {
	case req != nil && req.call != nil:
		r.carryLoop(head, req, call)
	case req != nil && !req.bodyDone:
		r.toHandler(head, req)
	case call != nil && call.loop.local && call.loop.back(r.in.Frame(), call.loop.bodyDone) == bodySide:
		h.late(head) // the handler was here, and has ended
	case call != nil:
		r.toRequester(head, call)
	case req != nil:
		r.toHandler(head, req)
	default:
		h.stray(head)
	}
}

// carryLoop passes on a frame of a request that a cartridge here has made, for one that is here too.
func (r *relay) carryLoop(head *frame.Head, req *request, call *peerCall) {
	loop := &req.call.loop
	back := loop.back(r.in.Frame(), req.bodyDone)
	switch {
	case back == bodySide && !req.bodyDone:
		r.toHandler(head, req)
	case back == responseSide && call == req.call:
		loop.done = head.Type.Terminal()
		r.toRequester(head, call)
	default:
		r.h.late(head)
	}
}

// toHandler passes on a frame of a request's body.
func (r *relay) toHandler(head *frame.Head, req *request) {
	h := r.h
	if !h.deliver(req.owner, req.generation, r.body(), head) {
		h.giveUp(req)
		return
	}
	if !head.Type.Terminal() {
		return
	}
	if req.bodyDone = true; req.answered {
		h.tables.release(req)
	}
}

// toRequester passes on a frame of a peer call's response.
func (r *relay) toRequester(head *frame.Head, call *peerCall) {
	h := r.h
	if !h.deliver(call.owner, call.generation, r.body(), head) {
		h.giveUpCall(call, head.RoutingID)
		return
	}
	if head.Type.Terminal() {
		h.releaseCall(call)
	}
}

// log passes on a LOG, which is a response's.
func (r *relay) log(head *frame.Head) {
	if call := r.h.findCall(head.ID); call != nil {
		r.toRequester(head, call)
		return
	}
	r.h.stray(head)
}

// credit passes on a CREDIT: to the handler that sends the response, or the requester that sends the body.
func (r *relay) credit(head *frame.Head) {
	h := r.h
	req, call := h.tables.find(flow.KeyOf(*head)), h.findCall(head.ID)
	d := r.in.Frame().CreditDirection()
	switch {
	case d == frame.NoDirection:
		h.counted.Drop(stats.NoRoute, head.Type)
		h.options.Logger.Warn("a CREDIT without direction", "request", head.ID)
	case d == frame.ResponseDirection && req != nil:
		r.toHandler(head, req)
	case call != nil:
		r.toRequester(head, call)
	case req != nil && req.call == nil:
		r.toHandler(head, req)
	default:
		h.stray(head)
	}
}

// closeStream passes on a CLOSE_STREAM.
func (r *relay) closeStream(head *frame.Head) {
	if req := r.h.tables.find(flow.KeyOf(*head)); req != nil {
		r.toHandler(head, req)
		return
	}
	if r.h.ended.Recent(head.ID) {
		r.h.late(head)
		return
	}
	r.h.options.Logger.Warn("a CLOSE_STREAM for an unknown request", "request", head.ID)
}

// deliver passes on a frame to the process of a cartridge that serves the request, or keeps it for that. It returns false
// for a frame that is too long for the cartridge.
func (h *Host) deliver(c *cartridge, generation uint64, body []byte, head *frame.Head) bool {
	switch {
	case generation == c.generation && c.phase == running:
		return h.forward(c.process, body, head)
	case generation == c.generation && c.phase == starting, generation == c.generation+1 && c.phase == dying:
		c.waiting.add(body, head)
		if c.waiting.bytes > overflow*h.options.MaxQueued && c.phase == starting {
			h.doom(c.process, unhealthy("more waits for it than can be kept"))
		}
	default:
		h.late(head) // its process ends, which ends the request too
	}
	return true
}

// forward queues a frame to a process.
func (h *Host) forward(p *process, body []byte, head *frame.Head) bool {
	err := p.out.Forward(body, head, frame.ID{})
	switch {
	case errors.Is(err, frame.ErrFrameTooLarge):
		return false
	case err != nil:
		h.late(head) // writing has failed, which is the end of the process
		return true
	}
	h.feed(p.out)
	if p.out.Queued() > overflow*h.options.MaxQueued {
		h.doom(p, unhealthy("more waits for it than can be kept"))
	}
	return true
}

// stray classifies a frame that belongs to no request.
func (h *Host) stray(head *frame.Head) {
	if h.ended.Recent(head.ID) {
		h.late(head)
		return
	}
	h.counted.Drop(stats.NoRoute, head.Type)
	h.options.Logger.Warn("a frame of an unknown request", "type", head.Type, "request", head.ID)
}

// late counts a frame of a request that has ended.
func (h *Host) late(head *frame.Head) {
	h.counted.Straggler(head.Type)
	if h.options.Logger.Enabled(context.Background(), slog.LevelDebug) {
		h.options.Logger.Debug("a late frame", "type", head.Type, "request", head.ID)
	}
}

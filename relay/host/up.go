package host

import (
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

// take handles a frame from a cartridge. An error is a violation. mu is held.
func (p *process) take(head *frame.Head) error {
	h := p.h
	switch head.Type {
	case frame.TypeHello, frame.TypeRelayNotify, frame.TypeRelayState, frame.TypePolicy:
		return frame.Errorf(frame.ErrProtocol, "a %v, which a cartridge must not send", head.Type)
	case frame.TypeHeartbeat:
		return p.heartbeat(p.in.Frame())
	case frame.TypeReq:
		return p.beginCall(head)
	case frame.TypeErr:
		if p.refused(head) {
			return nil
		}
	case frame.TypeCredit, frame.TypeCancel, frame.TypeCloseStream:
		h.tables.find(flow.KeyOf(*head)) // counts as a use
		h.findCall(head.ID)
		p.toRelay(head)
		return nil
	}
	return p.pass(head)
}

// beginCall takes in the REQ of a peer call.
func (p *process) beginCall(head *frame.Head) error {
	h, f := p.h, p.in.Frame()
	switch {
	case !head.RoutingID.IsZero():
		return frame.Errorf(frame.ErrProtocol, "a REQ with a routing id, which only a switch gives")
	case f.Cap == nil:
		return frame.Errorf(frame.ErrProtocol, "a REQ without a cap")
	case h.outgoing[head.ID] != nil:
		return frame.Errorf(frame.ErrProtocol, "a REQ with the id of a peer call that runs, %v", head.ID)
	case h.relay == nil:
		p.refuseCall(head)
		return nil
	}
	call := &peerCall{id: head.ID, owner: p.cart, generation: p.generation}
	if parent := h.byRID[f.ReqInfo().ParentRID]; parent != nil && parent.owner == p.cart && parent.generation == p.generation {
		call.parent = parent
	}
	h.addCall(call)
	return p.pass(head)
}

// refuseCall answers a peer call that nobody can carry.
func (p *process) refuseCall(head *frame.Head) {
	if p.out == nil {
		return
	}
	f := environment(codeNoHandler, "no switch is there").frame(flow.Key{RID: head.ID})
	p.out.Send(&f)
	p.h.feed(p.out)
}

// pass passes on a flow frame: of the body of a peer call, or of a response.
func (p *process) pass(head *frame.Head) error {
	h, key := p.h, flow.KeyOf(*head)
	req := h.tables.find(key)
	var call *peerCall
	if head.RoutingID.IsZero() {
		call = h.findCall(head.ID)
	}
	switch {
	case call != nil && (call.owner != p.cart || call.generation != p.generation),
		call == nil && req != nil && (req.owner != p.cart || req.generation != p.generation):
		return frame.Errorf(frame.ErrProtocol, "a %v of request %v, which is another cartridge's", head.Type, head.ID)
	case call != nil && call.bodySent, call == nil && req != nil && req.answered:
		h.late(head)
		return nil
	case call == nil && req == nil && h.flows[key] == nil && (head.Seq > 0 || h.ended.Recent(head.ID)):
		h.stray(head)
		return nil
	case h.relay == nil:
		h.counted.Drop(stats.ChannelClosed, head.Type)
		return nil
	}
	o := h.orderOf(key, p.cart)
	if o.owner != p.cart {
		return frame.Errorf(frame.ErrProtocol, "a %v of request %v, which is another cartridge's", head.Type, head.ID)
	}
	if err := o.take(head, h.relay.held); err != nil {
		return err
	}
	p.leaves(head, call)
	p.toRelay(head)
	if o.over() {
		delete(h.flows, key)
		p.ended(req, call)
	}
	return nil
}

// leaves takes note of a frame that may come back; see loop.
func (p *process) leaves(head *frame.Head, call *peerCall) {
	if head.Type != frame.TypeStreamStart && !head.Type.Terminal() {
		return
	}
	switch loop := p.h.outgoing[head.ID]; {
	case call != nil:
		call.loop.left(bodySide, p.in.Frame())
	case loop != nil:
		loop.loop.left(responseSide, p.in.Frame())
	}
}

// ended takes note that the body of a peer call, or a response, has ended.
func (p *process) ended(req *request, call *peerCall) {
	switch {
	case call != nil:
		call.bodySent = true
	case req == nil:
	case req.bodyDone:
		p.h.tables.release(req)
	default:
		req.answered = true
	}
}

// toRelay queues the frame that was read last to the relay.
func (p *process) toRelay(head *frame.Head) {
	r := p.h.relay
	if r == nil {
		p.h.counted.Drop(stats.ChannelClosed, head.Type)
		return
	}
	if r.out.Forward(p.body(), head, frame.ID{}) != nil {
		p.h.counted.Drop(stats.ChannelClosed, head.Type) // the relay ends
		return
	}
	p.h.feed(r.out)
	if p.sourceOf != r {
		p.source, p.sourceOf = r.out.NewSource(0), r
	}
	p.source.Sent(len(p.in.Wire()))
}

// violated ends a process that broke the rules, and with Strict the relay too.
func (h *Host) violated(p *process, err error) {
	h.mu.Lock()
	defer h.unlock()
	if p.doom != nil {
		return
	}
	h.happened(p.cart, Violated, p.pid(), err.Error())
	if h.options.Strict && h.relay != nil {
		go h.relay.fail(frame.Errorf(frame.ErrProtocol, "%v: %w", p.cart, err))
	}
	h.doom(p, &doom{kind: Died, answer: answer{codeViolation, frame.AttributionInternal, "broke the rules of the protocol: " + err.Error()}})
}

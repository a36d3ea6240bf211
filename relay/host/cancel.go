package host

import (
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// cancel takes in a CANCEL from the relay.
func (r *relay) cancel(head *frame.Head) {
	h := r.h
	req := h.tables.find(flow.KeyOf(*head))
	if req == nil {
		return // it has ended
	}
	f := r.in.Frame()
	c := req.owner
	if f.ForceKill.Or(false) && c.generation == req.generation && (c.phase == running || c.phase == starting) {
		h.doom(c.process, cancelled(f.CancelReason()))
		return
	}
	r.toHandler(head, req)
	if h.incoming[req.key] != req {
		return // it was too long for the cartridge, and all has ended
	}
	h.cancelChildren(req, f.CancelReason())
	if req.bodyDone = true; req.answered {
		h.tables.release(req)
	}
}

// cancelChildren cancels the peer calls that were made for a request.
func (h *Host) cancelChildren(req *request, reason frame.CancelReason) {
	for id := range req.children {
		h.cancelUpstream(id, reason)
	}
}

// cancelUpstream cancels a peer call at the switch.
func (h *Host) cancelUpstream(id frame.ID, reason frame.CancelReason) {
	if h.relay == nil {
		return
	}
	f := newCancel(id, reason)
	if h.relay.out.Send(&f) == nil {
		h.feed(h.relay.out)
	}
}

// sendCancel cancels a request at the cartridge that serves it, for a reason of the host.
func (h *Host) sendCancel(c *cartridge, k flow.Key, reason frame.CancelReason) {
	if c.phase != running {
		return
	}
	f := newCancel(k.RID, reason)
	f.RoutingID = k.XID
	if c.process.out.Send(&f) == nil {
		h.feed(c.process.out)
	}
}

// newCancel returns a CANCEL. A reason whose texts are not UTF-8 keeps its attribution alone.
func newCancel(id frame.ID, reason frame.CancelReason) frame.Frame {
	f, err := frame.NewCancel(id, false, reason)
	if err != nil {
		f, _ = frame.NewCancel(id, false, frame.CancelReason{Attribution: reason.Attribution})
	}
	return f
}

// cancelled is the end of a process that a CANCEL kills.
func cancelled(reason frame.CancelReason) *doom {
	return &doom{kind: Died, exact: true, answer: reasonAnswer(reason)}
}

// reasonAnswer returns what a request ends with that is cancelled for a reason.
func reasonAnswer(reason frame.CancelReason) answer {
	a := answer{code: codeCancelled, attribution: frame.AttributionInternal, message: "the request was cancelled"}
	said := string(reason.Message)
	if len(reason.Code) > 0 {
		a.code = string(reason.Code)
	}
	if reason.Attribution != frame.NoAttribution {
		a.attribution = reason.Attribution
	}
	switch a.code {
	case codeCollateral:
		a.message = "the request was aborted because of a failure elsewhere"
	case codeAborted:
		a.message = "the host aborted the request"
	default:
		if said != "" {
			a.message = said
		}
		return a
	}
	if said != "" {
		a.message += ": " + said
	}
	return a
}

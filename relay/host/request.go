package host

import (
	"fmt"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

// Codes of errors that a host makes.
const (
	codeNoHandler     = "NO_HANDLER"
	codeNotFound      = "CARTRIDGE_NOT_FOUND"
	codeUnavailable   = "CARTRIDGE_UNAVAILABLE"
	codeSpawnFailed   = "SPAWN_FAILED"
	codeDied          = "CARTRIDGE_DIED"
	codeUnhealthy     = "CARTRIDGE_UNHEALTHY"
	codeRetired       = "CARTRIDGE_RETIRED"
	codeOutOfMemory   = "OOM_KILLED"
	codeViolation     = "PROTOCOL_VIOLATION"
	codeFrameTooLarge = "FRAME_TOO_LARGE"
	codeCancelled     = "CANCELLED"
	codeAborted       = "ABORTED"
	codeCollateral    = "ABORTED_COLLATERAL"
)

// An answer is what a request ends with when the host ends it.
type answer struct {
	code        string
	attribution frame.Attribution
	message     string
}

func environment(code, format string, args ...any) answer {
	return answer{code, frame.AttributionEnvironment, fmt.Sprintf(format, args...)}
}

// request takes in a REQ.
func (r *relay) request(head *frame.Head) error {
	h, f := r.h, r.in.Frame()
	if f.Cap == nil {
		return frame.Errorf(frame.ErrProtocol, "a REQ without a cap from the relay, request %v", head.ID)
	}
	key := flow.KeyOf(*head)
	if h.incoming[key] != nil {
		h.counted.Drop(stats.NoRoute, head.Type)
		h.options.Logger.Warn("a REQ comes again while its request runs", "request", head.ID)
		return nil
	}
	c, refused := h.choose(f)
	if c == nil {
		h.answer(key, refused)
		return nil
	}
	req := &request{key: key, owner: c, call: h.outgoing[head.ID]}
	if req.call != nil {
		req.call.loop.local = true
	}
	switch c.phase {
	case idle:
		h.start(c)
		fallthrough
	case starting, running:
		req.generation = c.generation
	case dying:
		req.generation = c.generation + 1
	}
	h.add(req)
	r.toHandler(head, req)
	return nil
}

// choose returns the cartridge for a request, or what to answer.
func (h *Host) choose(f *frame.Frame) (*cartridge, answer) {
	if id := f.ReqInfo().TargetCartridge; id != nil {
		c := h.findByID(string(id))
		switch {
		case c == nil:
			return nil, environment(codeNotFound, "no cartridge %q is here", id)
		case c.failure != nil:
			return nil, environment(codeUnavailable, "%v failed before: %s", c, c.failure.Message)
		}
		return c, answer{}
	}
	if c := h.find(f.Cap); c != nil {
		return c, answer{}
	}
	return nil, environment(codeNoHandler, "no cartridge of this host serves %s", f.Cap)
}

// answer ends a request, or with a key without routing id the body of a peer call, with an ERR.
func (h *Host) answer(k flow.Key, a answer) {
	seq := h.dueNumber(k)
	if h.relay == nil {
		return
	}
	if call := h.outgoing[k.RID]; call != nil {
		call.loop.leftEnd(k)
	}
	f := a.frame(k)
	f.Seq = seq
	if err := h.relay.out.Send(&f); err != nil {
		h.options.Logger.Debug("an answer that nobody takes", "request", k.RID, "error", err)
		return
	}
	h.feed(h.relay.out)
}

// frame returns the ERR of an answer.
func (a answer) frame(k flow.Key) frame.Frame {
	f, err := frame.NewErr(k.RID, frame.ErrInfo{Code: []byte(a.code), Attribution: a.attribution, Message: []byte(a.message)})
	if err != nil { // a text that is blank or not UTF-8, of a reason from outside
		f, _ = frame.NewErr(k.RID, frame.ErrInfo{Code: []byte(codeAborted), Attribution: frame.AttributionInternal, Message: []byte("no text is left of the reason")})
	}
	f.RoutingID = k.XID
	return f
}

// giveUp ends a request whose cartridge cannot take a frame that long.
func (h *Host) giveUp(req *request) {
	a := answer{codeFrameTooLarge, frame.AttributionInternal, fmt.Sprintf("a frame of the request is longer than what %v takes", req.owner)}
	if !req.answered {
		h.answer(req.key, a)
	}
	h.tables.release(req)
	h.sendCancel(req.owner, req.key, frame.CancelReason{Code: []byte(codeAborted), Attribution: a.attribution, Message: []byte(a.message)})
	h.cancelChildren(req, frame.CancelReason{Code: []byte(codeCollateral), Attribution: a.attribution, Message: []byte(a.message)})
}

// giveUpCall ends a peer call whose cartridge cannot take a frame of the response that long.
func (h *Host) giveUpCall(call *peerCall, xid frame.ID) {
	a := answer{codeFrameTooLarge, frame.AttributionInternal, fmt.Sprintf("a frame of the response is longer than what %v takes", call.owner)}
	if p := call.owner.process; p != nil && p.generation == call.generation && p.out != nil {
		f := a.frame(flow.Key{RID: call.id, XID: xid})
		p.out.Send(&f)
		h.feed(p.out)
	}
	h.releaseCall(call)
	h.cancelUpstream(call.id, frame.CancelReason{Code: []byte(codeAborted), Attribution: a.attribution, Message: []byte(a.message)})
}

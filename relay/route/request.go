package route

import (
	"cmp"
	"time"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

// A request is one that the switch carries. All of it is guarded by Switch.mu.
type request struct {
	rid, xid frame.ID
	urn      string // of the cap that was asked for
	origin   *link  // where it came from; nil for the engine
	dest     *link  // where its handler is
	call     *Call  // the engine's, with a channel; nil for none
	place    place  // in the pools of its cartridge
	live     bool
	opened   bool // its REQ went to the handler
	bodyDone bool // and the END or ERR of its body

	parent            *request // that it was made for, while that lives
	child, prev, next *request // the list of its own children, and its place in that of parent
	children          int      // that it ever had

	registered, touched time.Time
	traffic
}

// key returns the flow of the request on the way to its handler, and of the response on the way to a requester.
func (r *request) key() flow.Key { return flow.Key{RID: r.rid, XID: r.xid} }

func (r *request) compareAge(o *request) int {
	a, _ := r.xid.Number()
	b, _ := o.xid.Number()
	return cmp.Compare(a, b)
}

// register puts a request into the table, and gives it its routing id. It fails when there is one of its id. mu
// is held.
func (s *Switch) register(r *request) error {
	if _, ok := s.requests[r.rid]; ok {
		return errorf(ErrProtocol, "request %s runs already", r.rid)
	}
	r.xid, r.live = s.nextNumber(), true
	r.registered = time.Now()
	r.touched = r.registered
	r.credit = int64(min(r.dest.offer.limits.InitialCredit, 1<<62))
	s.requests[r.rid] = r
	s.total++
	return nil
}

// adopt makes a request the child of another, if that lives and is served by the link that the child came from;
// a child of the engine may have any parent. mu is held.
func (s *Switch) adopt(parent frame.ID, r *request) {
	p := s.requests[parent]
	if p == nil || p == r || r.origin != nil && p.dest != r.origin {
		return
	}
	r.parent, r.next = p, p.child
	if p.child != nil {
		p.child.prev = r
	}
	p.child = r
	p.children++
}

// unlink gives up what a request has, and takes it out of all lists but the table.
func (r *request) unlink() {
	r.live = false
	r.place.leave()
	if p := r.parent; p != nil {
		if r.prev == nil {
			p.child = r.next
		} else {
			r.prev.next = r.next
		}
		if r.next != nil {
			r.next.prev = r.prev
		}
	}
	for c := r.child; c != nil; {
		next := c.next
		c.parent, c.prev, c.next = nil, nil, nil
		c = next
	}
	r.parent, r.child, r.prev, r.next = nil, nil, nil, nil
}

// terminate ends a request that lives: no state of it is left, but in the hands of the caller. The reason is that
// of a cancel. mu is held.
func (s *Switch) terminate(t *turn, r *request, kind stats.Kind, reason *frame.CancelReason) {
	delete(s.requests, r.rid)
	r.unlink()
	s.ended.Add(r.rid)
	summary := stats.Terminated{
		XID: r.xid, RID: r.rid, Kind: kind, IsPeer: r.origin != nil, CapURN: r.urn,
		LifetimeMS: milliseconds(time.Since(r.registered)),
		FramesIn:   r.all.framesIn, FramesOut: r.all.framesOut, BytesIn: r.all.bytesIn, BytesOut: r.all.bytesOut,
	}
	if reason != nil {
		summary.Cancelled(*reason)
	}
	s.history.Add(summary)
	if s.options.OnTerminated != nil {
		t.ended = append(t.ended, summary)
	}
}

// touch notes that a frame of the request went by.
func (r *request) touch() { r.touched = time.Now() }

func milliseconds(d time.Duration) uint64 { return uint64(max(d, 0) / time.Millisecond) }

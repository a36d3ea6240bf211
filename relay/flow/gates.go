package flow

import (
	"sync"

	"github.com/cosim-go/cosim/relay/frame"
)

// Gates are the gates of all streams that an end point sends in one direction. CREDIT frames
// find theirs by request and stream.
//
// An end point that sends in both directions, arguments of its own requests and responses to
// those of others, has two of them and offers each CREDIT to both: on a request that comes back
// to where it was made, ids alone do not tell the directions apart. Gates are safe for
// concurrent use. Granting costs no allocation.
type Gates struct {
	direction frame.Direction
	mu        sync.Mutex
	requests  map[frame.ID]*requestGates
	reason    error // not nil when all was closed
}

// requestGates are the gates of a request's streams. There is at least one.
type requestGates struct {
	streams map[string]*Gate
	only    *Gate // the gate when there is exactly one
}

// NewGates returns gates for the streams of a direction: [frame.RequestDirection] for those that
// carry arguments, [frame.ResponseDirection] for those that carry responses.
func NewGates(d frame.Direction) *Gates {
	return &Gates{direction: d, requests: map[frame.ID]*requestGates{}}
}

// Open returns a new gate for a stream of a request, with credit for some CHUNKs. After
// [Gates.CloseAll] it is closed already. A stream that was open is closed first, with [ErrClosed].
//
// After [Gates.CloseRequest] the same request can be opened again: a sender that may be about to
// open a stream just then is ended by the context that it gives to [Gate.Acquire].
func (g *Gates) Open(rid frame.ID, streamID string, initial uint64) *Gate {
	gate := NewGate(initial)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason != nil {
		gate.Close(g.reason)
		return gate
	}
	r := g.requests[rid]
	if r == nil {
		r = &requestGates{streams: map[string]*Gate{}}
		g.requests[rid] = r
	}
	if old := r.streams[streamID]; old != nil {
		old.Close(nil)
	}
	r.streams[streamID] = gate
	r.settle()
	return gate
}

// settle finds out whether there is exactly one gate.
func (r *requestGates) settle() {
	r.only = nil
	if len(r.streams) == 1 {
		for _, r.only = range r.streams {
		}
	}
}

// Grant gives the credit of a CREDIT frame to the gate of its stream or, when it names none, to
// the gate of the request's only stream. Anything else changes nothing, and it returns false: a
// frame of another type or direction, or of none, of an unknown request or stream, or without a
// stream where there are several. A grant that comes late is nothing wrong.
func (g *Gates) Grant(f *frame.Frame) bool {
	credit, ok := f.Credit.Get()
	if !ok || f.Type != frame.TypeCredit || f.CreditDirection() != g.direction || g.direction == frame.NoDirection {
		return false
	}
	gate := g.find(f.ID, f.StreamID)
	if gate == nil {
		return false
	}
	gate.Grant(credit)
	return true
}

func (g *Gates) find(rid frame.ID, streamID []byte) *Gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.requests[rid]
	switch {
	case r == nil:
		return nil
	case streamID == nil:
		return r.only
	}
	return r.streams[string(streamID)]
}

// CloseStream closes the gate of a stream and forgets it: after STREAM_END there is nothing to
// wait for. nil is [ErrClosed]. A stream that is unknown is none.
func (g *Gates) CloseStream(rid frame.ID, streamID string, reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.requests[rid]
	if r == nil || r.streams[streamID] == nil {
		return
	}
	r.streams[streamID].Close(reason)
	delete(r.streams, streamID)
	r.settle()
	if len(r.streams) == 0 {
		delete(g.requests, rid)
	}
}

// CloseRequest closes the gates of a request's streams and forgets them, after its END, ERR or
// CANCEL: whoever waits for credit ends with the reason, nil for [ErrClosed].
func (g *Gates) CloseRequest(rid frame.ID, reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.requests[rid]; r != nil {
		r.close(reason)
		delete(g.requests, rid)
	}
}

// CloseAll closes every gate, those to come too, with a reason; nil is [ErrClosed]. The first
// reason stays. It is for the end of the connection.
func (g *Gates) CloseAll(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason != nil {
		return
	}
	if reason == nil {
		reason = ErrClosed
	}
	g.reason = reason
	for _, r := range g.requests {
		r.close(reason)
	}
	clear(g.requests)
}

func (r *requestGates) close(reason error) {
	for _, gate := range r.streams {
		gate.Close(reason)
	}
}

// Len returns how many gates are open.
func (g *Gates) Len() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.requests {
		n += len(r.streams)
	}
	return n
}

package stream

import (
	"sync"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// Gates are the gates of the streams of one request that are sent in one direction. They are few, so that a list serves
// better than the maps of flow.Gates. The zero value has none. Gates are safe for concurrent use.
type Gates struct {
	mu     sync.Mutex
	list   []namedGate
	reason error // not nil when all was closed
}

type namedGate struct {
	id   string
	gate *flow.Gate
}

// Open returns a new gate for a stream. After CloseAll it is closed already.
func (g *Gates) Open(streamID string, initial uint64) *flow.Gate {
	gate := flow.NewGate(initial)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason != nil {
		gate.Close(g.reason)
	}
	g.list = append(g.list, namedGate{streamID, gate})
	return gate
}

// Forget forgets the gate of a stream that was sent.
func (g *Gates) Forget(streamID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.list {
		if g.list[i].id == streamID {
			g.list = append(g.list[:i], g.list[i+1:]...)
			return
		}
	}
}

// Grant gives the credit of a CREDIT frame to the gate of its stream or, when it names none, to the only one. A grant of
// another direction, or for a stream that is not known, changes nothing: one that comes late is nothing wrong.
func (g *Gates) Grant(f *frame.Frame, d frame.Direction) {
	credit, ok := f.Credit.Get()
	if !ok || f.CreditDirection() != d {
		return
	}
	if gate := g.find(f.StreamID); gate != nil {
		gate.Grant(credit)
	}
}

func (g *Gates) find(streamID []byte) *flow.Gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	if streamID == nil {
		if len(g.list) != 1 {
			return nil
		}
		return g.list[0].gate
	}
	for i := range g.list {
		if g.list[i].id == string(streamID) {
			return g.list[i].gate
		}
	}
	return nil
}

// CloseAll closes every gate, those to come too. The first reason stays.
func (g *Gates) CloseAll(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason != nil {
		return
	}
	g.reason = reason
	for i := range g.list {
		g.list[i].gate.Close(reason)
	}
	g.list = nil
}

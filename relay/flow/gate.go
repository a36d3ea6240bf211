package flow

import (
	"context"
	"errors"
	"math"
	"sync"
)

// ErrClosed is the reason of a gate that was closed without one.
var ErrClosed = errors.New("the stream is closed")

// A Gate is the credit of a stream at its sender. Each CHUNK takes one; what takes more than
// there is waits.
//
// Those who wait are served in the order in which they came: nobody gets credit before them,
// not even one who wants less. A Gate is safe for concurrent use. Taking what is there, and
// granting, costs no allocation.
type Gate struct {
	mu        sync.Mutex
	available uint64
	reason    error // not nil when closed
	line      line
	spare     *waiter // of an earlier wait
}

// NewGate returns a gate with credit for some CHUNKs.
func NewGate(initial uint64) *Gate { return &Gate{available: initial} }

// Acquire takes credit for n CHUNKs, and waits until it is there. It fails with the reason of
// [Gate.Close] once the gate is closed, else with [context.Cause] once ctx is done, and has then
// taken nothing. A gate that is closed, or a ctx that is done, fails also where credit is there.
func (g *Gate) Acquire(ctx context.Context, n uint64) error {
	w, err := g.enter(ctx, n)
	if w == nil {
		return err
	}
	select {
	case <-w.turn:
		return g.served(w)
	case <-ctx.Done():
		return g.leave(w, context.Cause(ctx))
	}
}

// TryAcquire takes credit for n CHUNKs if it is there and nobody waits for some.
func (g *Gate) TryAcquire(n uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reason == nil && g.take(n)
}

// Grant adds credit for n CHUNKs, up to 2^64-1 in all. A closed gate stays as it is.
func (g *Gate) Grant(n uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason != nil {
		return
	}
	g.available += min(n, math.MaxUint64-g.available)
	g.serve()
}

// Close ends every Acquire, those that wait and those to come, with a reason; nil is
// [ErrClosed]. The first reason stays.
func (g *Gate) Close(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason != nil {
		return
	}
	if reason == nil {
		reason = ErrClosed
	}
	g.reason = reason
	for w := g.line.first; w != nil; w = g.line.first {
		w.err = reason
		g.line.call(w)
	}
}

// Available returns for how many CHUNKs there is credit that nobody took.
func (g *Gate) Available() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.available
}

// enter takes credit, or returns a place in the line.
func (g *Gate) enter(ctx context.Context, n uint64) (*waiter, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason != nil {
		return nil, g.reason
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if g.take(n) {
		return nil, nil
	}
	w := g.spare
	g.spare = nil
	if w == nil {
		w = &waiter{turn: make(chan struct{}, 1)}
	}
	w.n = n
	g.line.join(w)
	return w, nil
}

func (g *Gate) take(n uint64) bool {
	if n > 0 && g.line.first != nil || n > g.available {
		return false
	}
	g.available -= n
	return true
}

// serve gives those at the front of the line what is there.
func (g *Gate) serve() {
	for w := g.line.first; w != nil && w.n <= g.available; w = g.line.first {
		g.available -= w.n
		g.line.call(w)
	}
}

// served returns what came of a wait that is over.
func (g *Gate) served(w *waiter) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spare = w
	return w.err
}

// leave gives up a place in the line. When its turn came at the same time, that counts.
func (g *Gate) leave(w *waiter, cause error) error {
	g.mu.Lock()
	select {
	case <-w.turn:
		g.mu.Unlock()
		return g.served(w)
	default:
	}
	defer g.mu.Unlock()
	g.line.remove(w)
	g.spare = w
	g.serve() // those behind may want less
	return cause
}

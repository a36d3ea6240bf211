package flow

import (
	"context"
	"errors"
	"math"
	"sync"
)

// ErrClosed is the reason of a gate that was closed without one.
var ErrClosed = errors.New("the flow is closed")

// A Gate is the credit of a stream at its sender.
type Gate struct {
	mu        sync.Mutex
	changed   chan struct{}
	available uint64
	reason    error
}

// NewGate returns a gate with credit for the given number of CHUNKs.
func NewGate(initial uint64) *Gate {
	return &Gate{available: initial, changed: make(chan struct{})}
}

// Acquire takes credit for n CHUNKs, and waits until it is there.
func (g *Gate) Acquire(ctx context.Context, n uint64) error {
	for {
		g.mu.Lock()
		reason, changed, ok := g.reason, g.changed, g.available >= n
		if reason == nil && ok {
			g.available -= n
		}
		g.mu.Unlock()
		if reason != nil || ok {
			return reason
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// TryAcquire takes credit for n CHUNKs if it is there.
func (g *Gate) TryAcquire(n uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason != nil || g.available < n {
		return false
	}
	g.available -= n
	return true
}

// Grant adds credit for n CHUNKs.
func (g *Gate) Grant(n uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reason != nil {
		return
	}
	g.available += min(n, math.MaxUint64-g.available)
	close(g.changed)
	g.changed = make(chan struct{})
}

// Close ends every present and future Acquire with the reason, nil for ErrClosed. The first
// reason stays.
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
	close(g.changed)
	g.changed = make(chan struct{})
}

// Available returns for how many CHUNKs there is credit.
func (g *Gate) Available() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.available
}

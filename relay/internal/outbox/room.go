package outbox

import (
	"context"
	"math"
	"slices"
)

// Queued returns how many bytes wait, length prefixes included.
func (o *Outbox) Queued() int {
	written := o.written.Load() // first, for it is never ahead
	return int(o.taken.Load() - written)
}

// Full reports whether more than MaxQueued bytes wait.
func (o *Outbox) Full() bool { return o.Queued() > o.options.MaxQueued }

// Room waits while the outbox is full, and then until half of MaxQueued is free. It returns the
// error of an outbox that died, or the cause of ctx when that ends first.
func (o *Outbox) Room(ctx context.Context) error {
	for o.Full() {
		if err := o.reach(ctx, o.taken.Load()-uint64(o.options.MaxQueued)/2); err != nil {
			return err
		}
	}
	return o.failure()
}

// reach waits until so many bytes were written since the beginning.
func (o *Outbox) reach(ctx context.Context, until uint64) error {
	o.mu.Lock()
	if o.err != nil || o.written.Load() >= until {
		defer o.mu.Unlock()
		return o.err
	}
	w := o.waiters.add(until)
	o.mu.Unlock()
	select {
	case <-w.ready:
		return o.failure()
	case <-ctx.Done():
		o.mu.Lock()
		defer o.mu.Unlock()
		o.waiters.remove(w)
		return context.Cause(ctx)
	}
}

// failure returns why the outbox died.
func (o *Outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Waiters are those who wait until a link has taken some bytes. The zero value is nobody.
type waiters []*waiter

type waiter struct {
	until uint64        // bytes since the outbox began
	ready chan struct{} // closed then
}

func (w *waiters) add(until uint64) *waiter {
	one := &waiter{until, make(chan struct{})}
	*w = append(*w, one)
	return one
}

func (w *waiters) remove(one *waiter) {
	if i := slices.Index(*w, one); i >= 0 {
		*w = slices.Delete(*w, i, i+1)
	}
}

// wake lets go those who wait for no more than so many bytes.
func (w *waiters) wake(written uint64) {
	if len(*w) == 0 {
		return
	}
	*w = slices.DeleteFunc(*w, func(one *waiter) bool {
		if one.until > written {
			return false
		}
		close(one.ready)
		return true
	})
}

// wakeAll lets everybody go.
func (w *waiters) wakeAll() { w.wake(math.MaxUint64) }

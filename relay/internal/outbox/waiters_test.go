package outbox

import (
	"context"
	"testing"
)

// Whoever gave up waiting is forgotten, however long the others wait.
func TestWhoGaveUpWaitingIsForgotten(t *testing.T) {
	o := New(nil, &Options{Corked: true})
	o.taken.Add(100)
	other := o.waiters.add(50)
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := o.reach(ctx, 60); err != context.Canceled {
			t.Fatal(err)
		}
	}
	if len(o.waiters) != 1 || o.waiters[0] != other {
		t.Errorf("%d wait, want one", len(o.waiters))
	}
	o.waiters.wake(49)
	select {
	case <-other.ready:
		t.Error("let go at 49 bytes, want 50")
	default:
	}
	o.waiters.wake(50)
	<-other.ready
	if len(o.waiters) != 0 {
		t.Errorf("%d wait, want none", len(o.waiters))
	}
}

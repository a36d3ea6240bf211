package flow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestAcquireTakesWhatIsThere(t *testing.T) {
	g := NewGate(3)
	for _, n := range []uint64{1, 0, 2, 0} {
		if err := g.Acquire(t.Context(), n); err != nil {
			t.Errorf("Acquire(%d) = %v", n, err)
		}
	}
	if n := g.Available(); n != 0 {
		t.Errorf("Available() = %d, want 0", n)
	}
	if g.TryAcquire(1) {
		t.Error("TryAcquire(1) = true without credit")
	}
	if !g.TryAcquire(0) {
		t.Error("TryAcquire(0) = false")
	}
	g.Grant(5)
	if !g.TryAcquire(4) || g.Available() != 1 {
		t.Errorf("Available() = %d after taking 4 of 5", g.Available())
	}
}

func TestGrantSaturates(t *testing.T) {
	g := NewGate(0)
	for _, n := range []uint64{math.MaxUint64, 1, math.MaxUint64} {
		g.Grant(n)
		if got := g.Available(); got != math.MaxUint64 {
			t.Errorf("Available() = %d, want 2^64-1", got)
		}
	}
}

func TestAGateKeepsItsFirstReason(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	g := NewGate(3)
	g.Close(first)
	g.Close(second)
	g.Grant(2)
	if err := g.Acquire(t.Context(), 1); err != first {
		t.Errorf("Acquire = %v, want %v", err, first)
	}
	if g.TryAcquire(0) {
		t.Error("TryAcquire = true on a closed gate")
	}
	if n := g.Available(); n != 3 {
		t.Errorf("Available() = %d, want the 3 from before", n)
	}
	g = NewGate(1)
	g.Close(nil)
	if err := g.Acquire(t.Context(), 0); err != ErrClosed {
		t.Errorf("Acquire = %v, want %v", err, ErrClosed)
	}
}

func TestAContextThatIsDoneTakesNothing(t *testing.T) {
	cause := errors.New("cause")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	g := NewGate(3)
	if err := g.Acquire(ctx, 1); err != cause {
		t.Errorf("Acquire = %v, want %v", err, cause)
	}
	if n := g.Available(); n != 3 {
		t.Errorf("Available() = %d, want 3", n)
	}
	reason := errors.New("reason")
	g.Close(reason)
	if err := g.Acquire(ctx, 1); err != reason {
		t.Errorf("Acquire = %v, want %v", err, reason)
	}
}

// waiting starts an Acquire that has to wait; what it returns comes from the channel.
func waiting(t *testing.T, ctx context.Context, g *Gate, n uint64) <-chan error {
	t.Helper()
	got := make(chan error, 1)
	go func() { got <- g.Acquire(ctx, n) }()
	synctest.Wait()
	if len(got) > 0 {
		t.Fatalf("Acquire(%d) = %v with %d available, want it to wait", n, <-got, g.Available())
	}
	return got
}

// settled fails unless exactly some of the waits are over, all with success.
func settled(t *testing.T, when string, got []<-chan error, want ...bool) {
	t.Helper()
	synctest.Wait()
	for i := range want {
		if over := len(got[i]) == 1; over != want[i] {
			t.Errorf("%s: wait %d is over: %t, want %t", when, i, over, want[i])
		}
	}
}

func TestThoseWhoWaitAreServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1)
		waits := []<-chan error{
			waiting(t, t.Context(), g, 3), waiting(t, t.Context(), g, 1), waiting(t, t.Context(), g, 1),
		}
		if g.TryAcquire(1) {
			t.Error("TryAcquire(1) got ahead of those who wait")
		}
		g.Grant(1)
		settled(t, "2 of 3", waits, false, false, false)
		g.Grant(1)
		settled(t, "3 of 3", waits, true, false, false)
		g.Grant(2)
		settled(t, "2 of 2", waits, true, true, true)
		for i, wait := range waits {
			if err := <-wait; err != nil {
				t.Errorf("wait %d = %v", i, err)
			}
		}
		if n := g.Available(); n != 0 {
			t.Errorf("Available() = %d, want 0", n)
		}
	})
}

func TestWhoGivesUpLetsTheOthersPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("cause")
		ctx, cancel := context.WithCancelCause(t.Context())
		g := NewGate(2)
		large := waiting(t, ctx, g, 10)
		small := waiting(t, t.Context(), g, 2)
		cancel(cause)
		if err := <-large; err != cause {
			t.Errorf("Acquire = %v, want %v", err, cause)
		}
		if err := <-small; err != nil {
			t.Errorf("Acquire = %v", err)
		}
	})
}

func TestOneWaitAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(0)
		for range 3 {
			ctx, cancel := context.WithCancel(t.Context())
			first, second := waiting(t, ctx, g, 1), waiting(t, t.Context(), g, 1)
			cancel()
			if err := <-first; err != context.Canceled {
				t.Errorf("Acquire = %v, want %v", err, context.Canceled)
			}
			g.Grant(1)
			if err := <-second; err != nil {
				t.Errorf("Acquire = %v", err)
			}
		}
		last := waiting(t, t.Context(), g, 1)
		g.Close(nil)
		if err := <-last; err != ErrClosed {
			t.Errorf("Acquire = %v, want %v", err, ErrClosed)
		}
	})
}

// Whoever gives up just when its turn comes has got what it wanted.
func TestATurnThatComesWithTheEndOfAWaitCounts(t *testing.T) {
	g := NewGate(0)
	w, err := g.enter(t.Context(), 2)
	if w == nil {
		t.Fatal("nobody waits", err)
	}
	g.Grant(3)
	if err := g.leave(w, errors.New("cause")); err != nil || g.Available() != 1 {
		t.Errorf("leave = %v with %d left, want success with 1 left", err, g.Available())
	}
}

// TestNoCreditIsLost lets many take and give up while credit comes in ones.
func TestNoCreditIsLost(t *testing.T) {
	const senders, each, credit = 8, 2000, 9000
	g := NewGate(0)
	ctx, cancel := context.WithCancel(t.Context())
	var taken atomic.Uint64
	var group sync.WaitGroup
	for range senders {
		group.Go(func() {
			for i := range each {
				mayEnd, end := context.WithCancel(ctx)
				if i%3 == 0 {
					go end()
				}
				if g.Acquire(mayEnd, 1) == nil {
					taken.Add(1)
				}
				end()
			}
		})
	}
	for range credit {
		g.Grant(1)
	}
	cancel()
	group.Wait()
	if got := taken.Load() + g.Available(); got != credit {
		t.Errorf("taken %d, available %d, want %d together", taken.Load(), g.Available(), credit)
	}
}

func TestTakingAndGrantingDoNotAllocate(t *testing.T) {
	g := NewGate(0)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	noAllocs(t, "Grant and Acquire", func() {
		for range 1000 {
			g.Grant(2)
			if err := g.Acquire(ctx, 1); err != nil || !g.TryAcquire(1) {
				t.Fatal("no credit", err)
			}
		}
	})
}

func ExampleGate() {
	g := NewGate(2)
	go func() {
		g.Grant(1) // a CREDIT frame came
		g.Close(fmt.Errorf("request cancelled"))
	}()
	for i := 0; ; i++ {
		if err := g.Acquire(context.Background(), 1); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output: request cancelled
}

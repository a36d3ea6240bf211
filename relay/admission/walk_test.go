package admission_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosim-go/cosim/relay/admission"
	"github.com/cosim-go/cosim/relay/manifest"
)

func TestOldestOfACapFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{capA: {n: 1}, "all": {}}))
		for _, name := range []string{"1", "2", "3"} {
			w.ask(name, capA)
		}
		w.want("1")
		w.release("1")
		w.want("2")
		w.release("2")
		w.want("3")
	})
}

func TestOldestOfSeveralCapsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{capA: {}, capB: {}, "all": {n: 1}}))
		for i, cap := range []string{capA, capB, capA, capB, capB, capA} {
			w.ask(fmt.Sprint(i), cap)
		}
		w.want("0")
		for i := range 5 {
			w.release(fmt.Sprint(i))
			w.want(fmt.Sprint(i + 1))
		}
	})
}

func TestFullCapHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{capA: {n: 1}, capB: {}, "gpu": {2, []string{capA, capB}}, "all": {n: 3}}))
		w.ask("a1", capA)
		w.ask("a2", capA)
		w.ask("b1", capB)
		w.want("a1", "b1")
		w.ask("b2", capB)
		w.want() // gpu is full
		w.release("a1")
		w.want("a2")
		w.release("b1")
		w.want("b2")
	})
}

func TestAllOrNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{
			capA: {}, capB: {}, capC: {},
			"p": {1, []string{capA, capB}}, "q": {1, []string{capA, capC}}, "all": {},
		}))
		w.ask("b", capB)
		w.ask("c", capC)
		w.ask("a", capA)
		w.want("b", "c")
		w.release("b")
		w.want()
		if got := w.c.Pools()["p"].Active; got != 0 {
			t.Errorf("a request that waits has %d places", got)
		}
		w.release("c")
		w.want("a")
	})
}

// What a request that waits for two pools needs of both is not taken by younger ones, turn about.
func TestPassedOverByNobodyInADeclaredPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{
			capA: {}, capB: {}, capC: {},
			"p": {1, []string{capA, capB}}, "q": {1, []string{capA, capC}}, "all": {},
		}))
		w.ask("b", capB)
		w.ask("a", capA)
		w.ask("c", capC)
		w.want("b") // c would fit, and a waits for q
		w.ask("b2", capB)
		w.release("b")
		w.want("a")
		w.release("a")
		w.want("c", "b2")
	})
}

func TestLeavingMakesRoomForTheYounger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{
			capA: {}, capB: {}, capC: {},
			"p": {1, []string{capA, capB}}, "q": {1, []string{capA, capC}}, "all": {},
		}))
		w.ask("b", capB)
		w.ask("a", capA)
		w.ask("c", capC)
		w.want("b")
		if _, ok := w.c.TryAcquire(capC); ok {
			t.Error("TryAcquire got a place that is kept for another")
		}
		if got := w.c.Pools()[capC].Queued; got != 1 {
			t.Errorf("after TryAcquire %d wait, want 1", got)
		}
		w.cancel["a"]()
		w.want("c")
		w.wantErr("a", context.Canceled)
	})
}

func TestCauseOfAContextReachesTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := admission.New(poolsOf(map[string]bounds{capA: {n: 1}, "all": {}}))
		if _, err := c.Acquire(t.Context(), capA); err != nil {
			t.Fatal(err)
		}
		cause := errors.New("no more")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { synctest.Wait(); cancel(cause) }()
		if _, err := c.Acquire(ctx, capA); err != cause {
			t.Errorf("Acquire = %v, want %v", err, cause)
		}
		if _, err := c.Acquire(ctx, capA); err != cause {
			t.Errorf("Acquire with an ended context = %v, want %v", err, cause)
		}
	})
}

func TestEndedContextTakesNoPlace(t *testing.T) {
	c := admission.New(poolsOf(map[string]bounds{capA: {}, "all": {}}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Acquire(ctx, capA); !errors.Is(err, context.Canceled) {
		t.Errorf("Acquire = %v, want %v", err, context.Canceled)
	}
	if got := c.Pools()[capA].Active; got != 0 {
		t.Errorf("%d active, want none", got)
	}
}

// Whoever gives up in the moment in which it is let in has a permit or an error, and no place without a permit.
func TestGivingUpWhenLetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := admission.New(poolsOf(map[string]bounds{capA: {n: 1}, "all": {}}))
		for i := range 100 {
			p, _ := c.TryAcquire(capA)
			ctx, cancel := context.WithCancel(t.Context())
			got := make(chan *admission.Permit)
			go func() {
				p, _ := c.Acquire(ctx, capA)
				got <- p
			}()
			synctest.Wait()
			if i%2 == 0 {
				cancel()
			}
			p.Release()
			cancel()
			if p := <-got; p != nil {
				p.Release()
			}
			if n := c.Pools()[capA].Active; n != 0 {
				t.Fatalf("%d active, want none", n)
			}
		}
	})
}

func TestReleaseTwiceGivesOnePlaceBack(t *testing.T) {
	c := admission.New(poolsOf(map[string]bounds{capA: {n: 2}, "all": {}}))
	p, _ := c.TryAcquire(capA)
	if _, ok := c.TryAcquire(capA); !ok {
		t.Fatal("no second place")
	}
	p.Release()
	p.Release()
	if got := c.Pools()[capA].Active; got != 1 {
		t.Errorf("active = %d, want 1", got)
	}
}

func TestCapsWithoutPools(t *testing.T) {
	for name, p := range map[string]manifest.Pools{
		"no own pool": poolsOf(map[string]bounds{capB: {}, "all": {0, []string{capA}}}),
		"no all":      poolsOf(map[string]bounds{capA: {}}),
		"no pools":    nil,
	} {
		c := admission.New(p)
		if _, err := c.Acquire(t.Context(), capA); !errors.Is(err, admission.ErrNoPool) {
			t.Errorf("%s: Acquire = %v, want %v", name, err, admission.ErrNoPool)
		}
		if _, ok := c.TryAcquire(capA); ok {
			t.Errorf("%s: TryAcquire got a place", name)
		}
	}
}

func TestCapsInAnySpelling(t *testing.T) {
	p, err := manifest.ParsePools([]byte(`{"cap:x;in=media:;effect=none":{"declared":1,"configured":1,"active":0,"queued":0},
		"all":{"declared":0,"configured":0,"active":0,"queued":0}}`))
	if err != nil {
		t.Fatal(err)
	}
	c := admission.New(p)
	if _, ok := c.TryAcquire("CAP:X;effect=none"); !ok {
		t.Error("no place in another spelling")
	}
	if _, ok := c.TryAcquire("cap:effect=none;x"); ok {
		t.Error("two places in a pool of one")
	}
	if err := c.SetConfigured(map[string]uint64{"cap:x;effect=none": 2}); err != nil {
		t.Error(err)
	}
	if _, ok := c.TryAcquire("cap:effect=none;x"); !ok {
		t.Error("no place after the bound went up")
	}
}

func TestClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newCrowd(t, poolsOf(map[string]bounds{capA: {n: 1}, "all": {}}))
		w.ask("1", capA)
		w.ask("2", capA)
		w.want("1")
		w.c.Suspend()
		w.c.Close()
		w.c.Close()
		w.wantErr("2", admission.ErrClosed)
		w.ask("3", capA)
		w.wantErr("3", admission.ErrClosed)
		w.release("1")
		time.Sleep(2 * admission.DefaultGrace)
		w.c.Resume()
	})
}

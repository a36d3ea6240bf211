package admission_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/cosim-go/cosim/relay/admission"
)

// The turn is decided by Enter, whoever waits first.
func TestEnterDecidesTheTurn(t *testing.T) {
	c := admission.New(poolsOf(map[string]bounds{capA: {n: 1}, "all": {caps: []string{capA}}}))
	places := make([]admission.Place, 4)
	for i := range places {
		places[i] = c.Enter(capA)
		if places[i].Waits() != (i > 0) {
			t.Fatalf("place %d: Waits() = %v", i, places[i].Waits())
		}
	}
	if n := c.Pools()[capA].Queued; n != 3 {
		t.Errorf("%d wait, want 3", n)
	}
	permits := make(chan int)
	for i, p := range slices.Backward(places) {
		go func() {
			permit, err := p.Wait(t.Context())
			if err != nil {
				t.Error(err)
			}
			permits <- i
			permit.Release()
		}()
	}
	for want := range places {
		if i := <-permits; i != want {
			t.Errorf("request %d is let in, want %d", i, want)
		}
	}
}

func TestEnterFailsInWait(t *testing.T) {
	c := admission.New(poolsOf(map[string]bounds{capA: {n: 1}, "all": {caps: []string{capA}}}))
	if _, err := c.Enter(capB).Wait(t.Context()); !errors.Is(err, admission.ErrNoPool) {
		t.Errorf("Wait = %v, want %v", err, admission.ErrNoPool)
	}
	if _, err := c.Enter(capA).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	if _, err := c.Enter(capA).Wait(ctx); !errors.Is(err, gone) {
		t.Errorf("Wait = %v, want %v", err, gone)
	}
	if n := c.Pools()[capA].Queued; n != 0 {
		t.Errorf("%d wait, want 0", n)
	}
}

package inbox

import (
	"context"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// What woke a wait that had ended would keep the next Put waiting, with the inbox locked.
func TestAWaitThatEndedIsNotWoken(t *testing.T) {
	b := New(0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Next(ctx); err != context.Canceled {
		t.Fatal(err)
	}
	f := frame.Frame{Type: frame.TypeLog, ID: frame.Number(1)}
	for range 3 {
		if err := b.PutFrame(&f); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(b.wake); n > 0 {
		t.Errorf("%d calls to wake nobody", n)
	}
}

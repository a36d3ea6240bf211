package inbox_test

import (
	"context"
	"testing"

	"github.com/cosim-go/cosim/relay/internal/inbox"
)

func TestFramesDoNotAllocate(t *testing.T) {
	for _, size := range []int{10, 1000, 262_144} {
		in, f := body(t, chunk(1, size)), chunk(1, size)
		b := inbox.New(0)
		ctx := context.Background()
		turn := func() {
			for range 3 {
				if b.Put(in) != nil || b.PutFrame(f) != nil {
					t.Fatal("not taken")
				}
			}
			for range 6 {
				if _, err := b.Next(ctx); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 50 {
			turn()
		}
		if n := testing.AllocsPerRun(100, turn); n != 0 {
			t.Errorf("frames of %d bytes allocate %v times", size, n)
		}
	}
}

// An inbox for one request costs itself and, if somebody waits, a channel.
func TestAnInboxCostsOneAllocation(t *testing.T) {
	in := body(t, chunk(1, 1000))
	turn := func() {
		b := inbox.New(0)
		if err := b.Put(in); err != nil {
			t.Fatal(err)
		}
		if _, ok := b.TryNext(); !ok {
			t.Fatal("no frame")
		}
		b.Release()
		b.Drop()
	}
	for range 50 {
		turn()
	}
	if n := testing.AllocsPerRun(100, turn); n > 1 {
		t.Errorf("an inbox allocates %v times, want once", n)
	}
}

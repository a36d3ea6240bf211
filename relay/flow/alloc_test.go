package flow

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// noAllocs fails when a function allocates, after it has run some times. It takes one run by
// itself to see even a rare allocation.
func noAllocs(t *testing.T, what string, f func()) {
	t.Helper()
	for range 3 {
		f()
	}
	if n := testing.AllocsPerRun(1, f); n != 0 {
		t.Errorf("%s allocates %v times, want 0", what, n)
	}
}

const (
	allocFrames = 100_000
	allocFlows  = 64 // open at a time
)

// flowsThatComeAndGo yields frames of flows that open and end all the while.
func flowsThatComeAndGo(n int, yield func(h frame.Head)) {
	var heads [allocFlows]frame.Head
	next := uint64(0)
	for i := range n {
		h := &heads[i*7%allocFlows]
		switch {
		case h.ID.IsZero():
			next++
			*h = frame.Head{Type: frame.TypeReq, ID: frame.UUID([16]byte{8: byte(next), byte(next >> 8)}), RoutingID: frame.Number(next)}
		case h.Seq > uint64(i%allocFlows):
			h.Type = frame.TypeEnd
		default:
			h.Type = frame.TypeChunk
		}
		yield(*h)
		h.Seq++
		if h.Type == frame.TypeEnd {
			*h = frame.Head{}
		}
	}
}

func TestFramesInOrderDoNotAllocate(t *testing.T) {
	b := NewReorderBuffer(64, nil)
	wire := make([]byte, 1000)
	noAllocs(t, "Accept", func() {
		flowsThatComeAndGo(allocFrames, func(h frame.Head) {
			ready, err := b.Accept(&h, wire)
			if !ready || err != nil {
				t.Fatalf("Accept(%v) = %t, %v", h, ready, err)
			}
			if h.Type.Terminal() {
				b.Cleanup(KeyOf(h))
			}
			b.Release()
		})
		for k := range leftOf(b) {
			b.Cleanup(k)
		}
	})
}

// leftOf returns the flows that have not ended.
func leftOf(b *ReorderBuffer) func(yield func(Key) bool) {
	return func(yield func(Key) bool) {
		for place := b.flows.oldest(resting); place != 0; place = b.flows.oldest(resting) {
			if !yield(b.flows.slots[place].key) {
				return
			}
		}
	}
}

// A million flows leave nothing behind.
func TestOpeningAndEndingFlowsDoesNotAllocate(t *testing.T) {
	b := NewReorderBuffer(64, nil)
	var a SeqAssigner
	k := Key{XID: frame.Number(0)}
	var n uint64
	noAllocs(t, "opening and ending flows", func() {
		for range modelSteps() / 4 {
			n++
			k.RID = frame.Number(n)
			f := frame.Frame{Type: frame.TypeReq, ID: k.RID, RoutingID: k.XID}
			a.Assign(&f)
			if ready, err := b.Accept(at(f.Head()), nil); !ready || err != nil {
				t.Fatal(ready, err)
			}
			if n > allocFlows { // the one that was opened so many before
				k.RID = frame.Number(n - allocFlows)
				a.Remove(k)
				b.Cleanup(k)
			}
		}
	})
	if got, want := b.Stats(), (ReorderStats{Flows: allocFlows}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

func TestFramesOutOfFlowsDoNotAllocate(t *testing.T) {
	b := NewReorderBuffer(64, nil)
	noAllocs(t, "Accept", func() {
		for seq := range uint64(100) {
			if ready, err := b.Accept(&frame.Head{Type: frame.TypeCredit, ID: frame.Number(1), Seq: seq}, nil); !ready || err != nil {
				t.Fatalf("Accept = %t, %v", ready, err)
			}
		}
	})
	if n := b.Stats().Flows; n != 0 {
		t.Errorf("%d flows, want none", n)
	}
}

func TestAssignDoesNotAllocate(t *testing.T) {
	var a SeqAssigner
	var f frame.Frame
	noAllocs(t, "Assign", func() {
		flowsThatComeAndGo(allocFrames, func(h frame.Head) {
			f.Type, f.ID, f.RoutingID = h.Type, h.ID, h.RoutingID
			if a.Assign(&f); f.Seq != h.Seq {
				t.Fatalf("Assign = %d, want %d", f.Seq, h.Seq)
			}
			if h.Type.Terminal() {
				a.Remove(KeyOf(h))
			}
		})
		for a.flows.len() > 0 {
			a.Remove(a.flows.slots[a.flows.oldest(resting)].key)
		}
	})
}

// Frames out of order reuse the memory of earlier ones.
func TestFramesOutOfOrderHardlyAllocate(t *testing.T) {
	b := NewReorderBuffer(64, nil)
	small, large := make([]byte, 100), make([]byte, 300<<10)
	seq := uint64(0)
	swap := func(wire []byte) {
		h := frame.Head{Type: frame.TypeChunk, ID: frame.Number(1), Seq: seq + 1}
		if ready, err := b.Accept(&h, wire); ready || err != nil {
			t.Fatalf("Accept(%v) = %t, %v", h, ready, err)
		}
		h.Seq = seq
		if ready, err := b.Accept(&h, wire); !ready || err != nil {
			t.Fatalf("Accept(%v) = %t, %v", h, ready, err)
		}
		for _, _, ok := b.Release(); ok; _, _, ok = b.Release() {
		}
		seq += 2
	}
	if n := testing.AllocsPerRun(10_000, func() { swap(small); swap(large) }); n != 0 {
		t.Errorf("a pair of frames allocates %v times, want 0", n)
	}
}

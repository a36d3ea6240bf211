package flow

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func head(t frame.Type, k Key, seq uint64) frame.Head {
	return frame.Head{Type: t, ID: k.RID, RoutingID: k.XID, Seq: seq}
}

// at returns a head that can be pointed at.
func at(h frame.Head) *frame.Head { return &h }

// mustAccept offers a chunk and fails unless it is taken as it should be.
func mustAccept(t *testing.T, b *ReorderBuffer, k Key, seq uint64, ready bool) {
	t.Helper()
	if got, err := b.Accept(at(head(frame.TypeChunk, k, seq)), []byte("wire")); got != ready || err != nil {
		t.Fatalf("Accept(%v, %d) = %t, %v, want %t", k, seq, got, err, ready)
	}
}

func TestHeldBytesAreACopyUntilTheNextAccept(t *testing.T) {
	b := NewReorderBuffer(2, nil)
	k := modelKeys[0]
	wire := []byte("one")
	b.Accept(at(head(frame.TypeChunk, k, 1)), wire)
	copy(wire, "two")
	b.Accept(at(head(frame.TypeEnd, k, 2)), wire)
	copy(wire, "xxx")
	mustAccept(t, b, k, 0, true)

	h, first, ok := b.Release()
	if string(first) != "one" || h != head(frame.TypeChunk, k, 1) || !ok {
		t.Errorf("Release() = %v, %q, %t", h, first, ok)
	}
	h, second, ok := b.Release()
	if string(second) != "two" || h != head(frame.TypeEnd, k, 2) || !ok {
		t.Errorf("Release() = %v, %q, %t", h, second, ok)
	}
	b.Cleanup(k)
	if h, wire, ok := b.Release(); ok || wire != nil {
		t.Errorf("Release() = %v, %q, %t, want no more", h, wire, ok)
	}
	if string(first) != "one" || string(second) != "two" {
		t.Errorf("the bytes changed to %q and %q before the next Accept", first, second)
	}
}

// A frame that stands behind its flow's end is never let go: the end is cleaned up first.
func TestAnEndWithinARunEndsTheRun(t *testing.T) {
	b := NewReorderBuffer(8, nil)
	k := modelKeys[1]
	mustAccept(t, b, k, 3, false)
	mustAccept(t, b, k, 2, false)
	b.Accept(at(head(frame.TypeErr, k, 1)), nil)
	mustAccept(t, b, k, 0, true)
	if h, _, ok := b.Release(); h != head(frame.TypeErr, k, 1) || !ok {
		t.Fatalf("Release() = %v, %t, want the ERR", h, ok)
	}
	b.Cleanup(k)
	if h, _, ok := b.Release(); ok {
		t.Errorf("Release() = %v after the end was cleaned up", h)
	}
	if got, want := b.Stats(), (ReorderStats{Dropped: 2}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
	mustAccept(t, b, k, 0, true)
}

func TestAFlowWithoutIDsIsUnknownToo(t *testing.T) {
	b := NewReorderBuffer(8, nil)
	mustAccept(t, b, modelKeys[0], 0, true)
	mustAccept(t, b, modelKeys[1], 0, true)
	b.Cleanup(modelKeys[1])
	b.Cleanup(Key{})
	if got, want := b.Stats(), (ReorderStats{Flows: 1}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

func TestCleanupOfAnotherFlowLeavesARunAlone(t *testing.T) {
	b := NewReorderBuffer(8, nil)
	mustAccept(t, b, modelKeys[0], 0, true)
	mustAccept(t, b, modelKeys[1], 1, false)
	mustAccept(t, b, modelKeys[1], 0, true)
	b.Cleanup(modelKeys[0])
	b.Cleanup(modelKeys[2]) // unknown
	if h, _, ok := b.Release(); h != head(frame.TypeChunk, modelKeys[1], 1) || !ok {
		t.Errorf("Release() = %v, %t, want the held frame", h, ok)
	}
}

// A flow ends when its end is delivered, not when that arrives too early.
func TestAnEndThatIsHeldDoesNotEndItsFlow(t *testing.T) {
	b := NewReorderBuffer(8, nil)
	k := modelKeys[0]
	if ready, err := b.Accept(at(head(frame.TypeEnd, k, 1)), nil); ready || err != nil {
		t.Fatalf("Accept = %t, %v", ready, err)
	}
	mustAccept(t, b, k, 0, true)
	if h, _, ok := b.Release(); h.Type != frame.TypeEnd || !ok {
		t.Errorf("Release() = %v, %t, want the END", h, ok)
	}
}

func TestAcceptBeforeTheRunWasReleased(t *testing.T) {
	b := NewReorderBuffer(8, nil)
	k := modelKeys[0]
	mustAccept(t, b, k, 1, false)
	mustAccept(t, b, k, 0, true)
	before := b.Stats()
	for _, h := range []frame.Head{head(frame.TypeChunk, k, 2), head(frame.TypeCredit, k, 0)} {
		if ready, err := b.Accept(&h, nil); ready || err == nil || frame.KindOf(err) != "" {
			t.Errorf("Accept(%v) = %t, %v, want an error of no kind", h, ready, err)
		}
	}
	if after := b.Stats(); after != before {
		t.Errorf("Stats() = %+v, want %+v", after, before)
	}
	if _, _, ok := b.Release(); !ok {
		t.Error("Release() = false for what was let go")
	}
	mustAccept(t, b, k, 2, true)
}

func TestFlowsThatHoldNothingAreForgottenFirst(t *testing.T) {
	b := NewReorderBuffer(8, &ReorderOptions{MaxFlows: 4})
	waits, first, second, third := modelKeys[0], modelKeys[1], modelKeys[2], modelKeys[3]
	mustAccept(t, b, waits, 5, false)
	mustAccept(t, b, waits, 6, false)
	for _, k := range []Key{first, second, third} {
		mustAccept(t, b, k, 0, true)
	}
	mustAccept(t, b, first, 1, true)
	mustAccept(t, b, modelKeys[4], 1, false) // in the place of second
	mustAccept(t, b, second, 0, true)        // anew, in the place of third
	mustAccept(t, b, modelKeys[5], 1, false) // in the place of first
	mustAccept(t, b, modelKeys[6], 1, false) // in the place of second
	if got, want := b.Stats(), (ReorderStats{Held: 5, HeldBytes: 20, Flows: 4, ForgottenFlows: 4}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
	mustAccept(t, b, modelKeys[7], 1, false) // all hold something: in the place of waits
	if got, want := b.Stats(), (ReorderStats{Held: 4, HeldBytes: 16, Flows: 4, ForgottenFlows: 5, Dropped: 2}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

func TestSoManyFlowsAreRememberedUnlessToldOtherwise(t *testing.T) {
	b := NewReorderBuffer(8, nil)
	for i := range uint64(8200) {
		mustAccept(t, b, Key{RID: frame.Number(i)}, i%2, i%2 == 0)
	}
	if got, want := b.Stats(), (ReorderStats{Held: 4100, HeldBytes: 4 * 4100, Flows: 8192, ForgottenFlows: 8}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
}

func TestAFrameThatIsRefusedPutsNoFlowOut(t *testing.T) {
	b := NewReorderBuffer(0, &ReorderOptions{MaxFlows: 1})
	mustAccept(t, b, modelKeys[0], 0, true)
	if _, err := b.Accept(at(head(frame.TypeReq, modelKeys[1], 1)), nil); !errors.Is(err, ErrOverflow) {
		t.Errorf("Accept = %v, want %v", err, ErrOverflow)
	}
	mustAccept(t, b, modelKeys[0], 1, true)
}

func TestHeldBytesAreBounded(t *testing.T) {
	const perFrame = heldCost + 1000
	wire := make([]byte, 1000)
	b := NewReorderBuffer(100, &ReorderOptions{MaxHeldBytes: 3 * perFrame})
	hold := func(k Key, seq uint64) error {
		_, err := b.Accept(at(head(frame.TypeChunk, k, seq)), wire)
		return err
	}
	for seq := range uint64(3) {
		if err := hold(modelKeys[0], 1+seq); err != nil {
			t.Fatal(err)
		}
	}
	if err := hold(modelKeys[0], 9); !errors.Is(err, ErrOverflow) {
		t.Errorf("Accept = %v, want %v", err, ErrOverflow)
	}
	if got, want := b.Stats(), (ReorderStats{Held: 3, HeldBytes: 3000, Flows: 1}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
	if err := hold(modelKeys[1], 1); err != nil { // in the place of the other flow
		t.Errorf("Accept = %v", err)
	}
	if got, want := b.Stats(), (ReorderStats{Held: 1, HeldBytes: 1000, Flows: 1, ForgottenFlows: 1, Dropped: 3}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
	mustAccept(t, b, modelKeys[1], 0, true)
}

// Whoever sends nothing but tiny frames out of order is to cost no more memory than the limit says.
func TestTheLimitOfHeldBytesIsAboutWhatTheyTake(t *testing.T) {
	const limit = 16 << 20
	b := NewReorderBuffer(1<<30, &ReorderOptions{MaxHeldBytes: limit})
	wire := make([]byte, 30)
	before := heapSize()
	for seq, err := uint64(1), error(nil); err == nil; seq++ {
		_, err = b.Accept(at(head(frame.TypeChunk, modelKeys[0], seq)), wire)
	}
	if took := heapSize() - before; took > limit*5/4 {
		t.Errorf("%d frames take %d bytes, want at most about %d", b.Stats().Held, took, limit)
	}
}

func heapSize() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestMuchDisorderDoesNotCostMemoryForGood(t *testing.T) {
	b := NewReorderBuffer(10*mostKept, nil)
	k := modelKeys[0]
	for round := range 2 {
		for seq := range uint64(2 * mostKept) {
			mustAccept(t, b, k, 1+seq, false)
		}
		mustAccept(t, b, k, 0, true)
		n := 0
		for _, _, ok := b.Release(); ok; _, _, ok = b.Release() {
			n++
		}
		if n != 2*mostKept || cap(b.shelf.frames) > mostKept {
			t.Errorf("round %d: %d frames released, room for %d is kept", round, n, cap(b.shelf.frames))
		}
		b.Cleanup(k)
	}
}

func TestARefusalSaysWhichFrame(t *testing.T) {
	b := NewReorderBuffer(0, nil)
	for k, want := range map[Key]string{
		modelKeys[0]: "chunk frame 7 of request 1: no more can be held",
		modelKeys[1]: "chunk frame 7 of request 1, routing id 0: no more can be held",
	} {
		if _, err := b.Accept(at(head(frame.TypeChunk, k, 7)), nil); err == nil || err.Error() != want {
			t.Errorf("Accept = %q, want %q", err, want)
		}
	}
}

func TestSparesAreOfTheRightSizeAndBounded(t *testing.T) {
	var s spares
	last := 0
	for size := range 70_000 {
		class, room := sizeClass(size)
		if room < size || room > max(size+size/4, smallestSpare) || class >= len(s.bySize) {
			t.Fatalf("sizeClass(%d) = %d, %d", size, class, room)
		}
		if again, same := sizeClass(room); again != class || same != room {
			t.Fatalf("sizeClass(%d) = %d, %d, want %d, %d", room, again, same, class, room)
		}
		if class != last && class != last+1 && last != 0 {
			t.Fatalf("sizeClass(%d) = %d after %d", size, class, last)
		}
		last = class
	}
	for range 100 {
		s.give(s.take(300 << 10))
		s.give(make([]byte, 320<<10))
	}
	if s.bytes > maxSpareBytes {
		t.Errorf("%d bytes are kept, at most %d should be", s.bytes, maxSpareBytes)
	}
}

// A reader of frames delivers them in the order of their flow.
func ExampleReorderBuffer() {
	b := NewReorderBuffer(frame.DefaultMaxHeld, nil)
	deliver := func(h frame.Head, wire []byte) {
		fmt.Println(h.Type, h.Seq, string(wire))
		if h.Type.Terminal() {
			b.Cleanup(KeyOf(h))
		}
	}
	rid := frame.Number(1)
	for i, h := range []frame.Head{
		{Type: frame.TypeReq, ID: rid},
		{Type: frame.TypeEnd, ID: rid, Seq: 2},
		{Type: frame.TypeCancel, ID: rid},
		{Type: frame.TypeChunk, ID: rid, Seq: 1},
	} {
		wire := []byte(strings.Repeat("*", i+1))
		ready, err := b.Accept(&h, wire)
		if err != nil {
			fmt.Println(err)
			return
		}
		for ready {
			deliver(h, wire)
			h, wire, ready = b.Release()
		}
	}
	// Output:
	// req 0 *
	// cancel 0 ***
	// chunk 1 ****
	// end 2 **
}

func ExampleSeqAssigner() {
	var a SeqAssigner
	for _, typ := range []frame.Type{frame.TypeReq, frame.TypeCancel, frame.TypeEnd, frame.TypeReq} {
		f := frame.Frame{Type: typ, ID: frame.Number(1)}
		a.Assign(&f)
		fmt.Println(f.Type, f.Seq)
		// ... write f, under the same lock ...
		if f.Type.Terminal() {
			a.Remove(KeyOf(f.Head()))
		}
	}
	// Output:
	// req 0
	// cancel 0
	// end 1
	// req 0
}

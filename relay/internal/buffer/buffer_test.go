package buffer_test

import (
	"bytes"
	"testing"

	"github.com/cosim-go/cosim/relay/internal/buffer"
)

func TestABufferHasTheRoomThatWasAskedFor(t *testing.T) {
	for _, need := range []int{0, 1, 4 << 10, 4<<10 + 1, 100_000, 1 << 20, 16 << 20} {
		b := buffer.Get(need)
		if len(b.B) != 0 || b.Room() < need || b.Read != 0 || b.Next != nil {
			t.Errorf("Get(%d) = %d of %d bytes, read %d", need, len(b.B), cap(b.B), b.Read)
		}
		b.Free()
	}
	(*buffer.Buffer)(nil).Free()
}

// What was done to a buffer does not show when it is lent again.
func TestAFreeBufferIsLentAgainEmpty(t *testing.T) {
	b := buffer.Get(10)
	b.B, b.Read, b.Next = append(b.B, 1, 2, 3), 2, &buffer.Buffer{}
	b.Free()
	again := buffer.Get(10)
	defer again.Free()
	if again != b {
		t.Fatal("a free buffer was not lent again")
	}
	if len(again.B) != 0 || again.Read != 0 || again.Next != nil {
		t.Errorf("Get = %d bytes, read %d, next %v", len(again.B), again.Read, again.Next)
	}
}

// One whose slice was exchanged for another size is not lent for what it is not.
func TestABufferOfAnotherSizeIsNotLentAgain(t *testing.T) {
	b := buffer.Get(10)
	b.B = make([]byte, 0, 5)
	b.Free()
	again := buffer.Get(10)
	defer again.Free()
	if again == b || again.Room() < 10 {
		t.Errorf("Get(10) has room for %d", again.Room())
	}
}

func TestAGrownBufferHoldsWhatItHeld(t *testing.T) {
	b := buffer.Get(10)
	content := bytes.Repeat([]byte{7}, 3000)
	b.B, b.Read = append(b.B, content...), 5
	if same := b.Grown(b.Room()); same != b {
		t.Error("a buffer with room was exchanged")
	}
	g := b.Grown(b.Room() + 1)
	defer g.Free()
	if !bytes.Equal(g.B, content) || g.Read != 5 || g.Room() < 4<<10-3000+1 {
		t.Errorf("Grown = %d bytes, read %d, room %d", len(g.B), g.Read, g.Room())
	}
}

func TestLendingDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		a, b := buffer.Get(1000), buffer.Get(200_000)
		a.Free()
		b.Free()
	}); n != 0 {
		t.Errorf("Get and Free allocate %v times", n)
	}
}

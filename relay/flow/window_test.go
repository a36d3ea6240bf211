package flow

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestAWindowGrantsInBatches(t *testing.T) {
	for _, test := range []struct{ initial, batch uint64 }{{1, 1}, {2, 1}, {3, 1}, {4, 2}, {5, 2}, {32, 16}} {
		w := NewWindow(test.initial)
		for i := range 3 * test.batch {
			if err := w.Arrive(); err != nil {
				t.Fatalf("initial %d: Arrive = %v", test.initial, err)
			}
			want := uint64(0)
			if (i+1)%test.batch == 0 {
				want = test.batch
			}
			if got := w.Consume(); got != want {
				t.Errorf("initial %d: Consume number %d = %d, want %d", test.initial, i+1, got, want)
			}
		}
	}
}

func TestAChunkBeyondTheWindowIsAViolation(t *testing.T) {
	for initial := range uint64(4) {
		w := NewWindow(initial)
		for range initial {
			if err := w.Arrive(); err != nil {
				t.Fatalf("initial %d: Arrive = %v", initial, err)
			}
		}
		err := w.Arrive()
		if !errors.Is(err, ErrCreditViolation) || !errors.Is(err, frame.ErrProtocol) {
			t.Errorf("initial %d: Arrive = %v, want %v", initial, err, ErrCreditViolation)
		}
	}
}

func TestCreditThatIsNotGrantedIsNotThere(t *testing.T) {
	w := NewWindow(4)
	for range 4 {
		w.Arrive()
	}
	w.Consume() // the batch is 2
	if err := w.Arrive(); !errors.Is(err, ErrCreditViolation) {
		t.Errorf("Arrive = %v, want %v", err, ErrCreditViolation)
	}
	if n := w.Flush(); n != 1 {
		t.Errorf("Flush() = %d, want 1", n)
	}
	if n := w.Flush(); n != 0 {
		t.Errorf("Flush() = %d, want 0", n)
	}
	if err := w.Arrive(); err != nil {
		t.Errorf("Arrive after a grant = %v", err)
	}
}

func TestAContinuationIsGrantedAlone(t *testing.T) {
	w := NewWindow(4)
	w.Arrive()
	w.Consume()
	for i := range 20 { // an item far longer than the window
		if err := w.Arrive(); err != nil {
			t.Fatalf("piece %d: %v", i, err)
		}
		if n := w.Continue(); n != 1 {
			t.Fatalf("Continue() = %d, want 1", n)
		}
	}
	if n := w.Flush(); n != 1 {
		t.Errorf("Flush() = %d, want the 1 from before", n)
	}
}

func TestNothingIsGrantedForWhatNeverCame(t *testing.T) {
	w := NewWindow(1)
	if n := w.Consume() + w.Continue() + w.Flush(); n != 0 {
		t.Errorf("%d granted, want 0", n)
	}
	w.Arrive()
	if n := w.Consume(); n != 1 {
		t.Errorf("Consume() = %d, want 1", n)
	}
	if n := w.Consume() + w.Continue() + w.Flush(); n != 0 {
		t.Errorf("%d granted twice", n)
	}
}

func ExampleWindow() {
	w := NewWindow(4)
	for range 3 {
		if err := w.Arrive(); err != nil {
			fmt.Println(err)
			return
		}
		// ... the handler takes the chunk ...
		if n := w.Consume(); n > 0 {
			fmt.Println("grant", n)
		}
	}
	// Before a wait for more input, or for credit of the output.
	if n := w.Flush(); n > 0 {
		fmt.Println("grant", n)
	}
	// Output:
	// grant 2
	// grant 1
}

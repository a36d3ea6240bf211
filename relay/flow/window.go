package flow

import (
	"errors"
	"sync"

	"github.com/cosim-go/cosim/relay/frame"
)

// ErrCreditViolation says that a CHUNK came for which there was no credit. It ends the request.
// Such an error is of kind [frame.ErrProtocol] too.
var ErrCreditViolation = errors.New("a chunk beyond the credit")

// A Window is the credit of a stream at its receiver: it knows how many CHUNKs may still come,
// and when to grant more. What it says to grant has to be sent, in a CREDIT frame.
//
// Every CHUNK that comes is reported with [Window.Arrive], and once its place is free again
// with [Window.Consume] or, for a piece of an item that the receiver has to gather first,
// [Window.Continue]. Consumed CHUNKs are granted in batches; [Window.Flush], before whatever
// may wait for long, grants the rest. A receiver that waits without it can wait for a sender
// that waits for it.
//
// A Window is safe for concurrent use.
type Window struct {
	mu      sync.Mutex
	batch   uint64
	open    uint64 // CHUNKs that may come
	arrived uint64 // CHUNKs that came and were not consumed
	pending uint64 // CHUNKs that were consumed and not granted
}

// NewWindow returns the window of a stream that begins with credit for some CHUNKs. It grants in
// batches of half as many, one at least.
func NewWindow(initial uint64) *Window {
	return &Window{open: initial, batch: max(1, initial/2)}
}

// Arrive counts a CHUNK that has come. It fails with [ErrCreditViolation] when there was no
// credit for it, and counts it not.
func (w *Window) Arrive() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == 0 {
		return frame.Errorf(frame.ErrProtocol, "%w", ErrCreditViolation)
	}
	w.open--
	w.arrived++
	return nil
}

// Consume counts a CHUNK that has come as consumed, and returns how many to grant now: 0 while
// the batch is not full. More CHUNKs than have come are never consumed.
func (w *Window) Consume() (grant uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.consume() {
		return 0
	}
	w.pending++
	if w.pending < w.batch {
		return 0
	}
	return w.grantPending()
}

// Continue counts a CHUNK that has come as consumed and returns that it is to be granted at
// once, by itself. It is for each piece of a sequence's item but the first: the receiver
// consumes whole items, and one longer than the window could never come otherwise.
func (w *Window) Continue() (grant uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.consume() {
		return 0
	}
	w.open++
	return 1
}

// Flush returns how many CHUNKs to grant before a wait; 0 when all were.
func (w *Window) Flush() (grant uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.grantPending()
}

func (w *Window) consume() bool {
	if w.arrived == 0 {
		return false
	}
	w.arrived--
	return true
}

func (w *Window) grantPending() uint64 {
	grant := w.pending
	w.open += grant
	w.pending = 0
	return grant
}

package flow

import (
	"bytes"

	"github.com/cosim-go/cosim/relay/frame"
)

// ReorderOptions are the options of [NewReorderBuffer]. The zero value has the defaults.
type ReorderOptions struct {
	MaxFlows     int   // flows that are remembered; 0 is 8192
	MaxHeldBytes int64 // bytes that are held in all; 0 is 512 MiB
}

// ReorderStats is what a [ReorderBuffer] holds and counts.
type ReorderStats struct {
	Held           int    // frames
	HeldBytes      int64  // of these frames
	Flows          int    // remembered now
	ForgottenFlows uint64 // flows given up because there were too many
	Dropped        uint64 // frames that were held and never let go
}

// A ReorderBuffer puts the frames of each flow in the order of their numbers. It is not safe
// for concurrent use.
type ReorderBuffer struct {
	maxHeld int
	flows   map[Key]*order
	run     *order
	stats   ReorderStats
}

type order struct {
	expected uint64
	held     map[uint64]heldFrame
}

type heldFrame struct {
	head frame.Head
	wire []byte
}

// NewReorderBuffer returns a buffer that holds at most maxHeld frames for each flow; 0 takes
// frames in order alone.
func NewReorderBuffer(maxHeld int, o *ReorderOptions) *ReorderBuffer {
	return &ReorderBuffer{maxHeld: maxHeld, flows: map[Key]*order{}}
}

// Accept takes a frame: its head, and its bytes as they go on. When it returns true the frame
// is to be delivered now, and then what it let go, which [ReorderBuffer.Release] returns.
// Otherwise, without an error, a copy of wire is held.
//
// A frame that is refused changes nothing. The error is of kind [frame.ErrProtocol], and
// [ErrStale], [ErrDuplicate] or [ErrOverflow].
func (b *ReorderBuffer) Accept(h frame.Head, wire []byte) (ready bool, err error) {
	if !h.Type.Flow() {
		return true, nil
	}
	f := b.flows[KeyOf(h)]
	if f == nil {
		f = &order{held: map[uint64]heldFrame{}}
	}
	_, twice := f.held[h.Seq]
	switch {
	case h.Seq < f.expected:
		return false, refused(h, ErrStale)
	case twice:
		return false, refused(h, ErrDuplicate)
	case h.Seq > f.expected && len(f.held) >= b.maxHeld:
		return false, refused(h, ErrOverflow)
	}
	b.flows[KeyOf(h)] = f
	if h.Seq > f.expected {
		f.held[h.Seq] = heldFrame{h, bytes.Clone(wire)}
		b.stats.Held++
		b.stats.HeldBytes += int64(len(wire))
		return false, nil
	}
	f.expected++
	b.run = f
	return true, nil
}

func refused(h frame.Head, why error) error {
	return frame.Errorf(frame.ErrProtocol, "%v frame %d of request %v: %w", h.Type, h.Seq, h.ID, why)
}

// Release returns the next frame that the last accepted one let go, and false when there is
// none left. Its bytes are valid until the next call of a method of b.
func (b *ReorderBuffer) Release() (h frame.Head, wire []byte, ok bool) {
	if b.run == nil {
		return frame.Head{}, nil, false
	}
	next, ok := b.run.held[b.run.expected]
	if !ok {
		b.run = nil
		return frame.Head{}, nil, false
	}
	delete(b.run.held, b.run.expected)
	b.run.expected++
	b.stats.Held--
	b.stats.HeldBytes -= int64(len(next.wire))
	return next.head, next.wire, true
}

// Cleanup forgets a flow with what it holds. It is to be called for each END and ERR when it
// is delivered, before the next Release.
func (b *ReorderBuffer) Cleanup(k Key) {
	f := b.flows[k]
	if f == nil {
		return
	}
	for _, h := range f.held {
		b.stats.Held--
		b.stats.HeldBytes -= int64(len(h.wire))
		b.stats.Dropped++
	}
	if b.run == f {
		b.run = nil
	}
	delete(b.flows, k)
}

// Stats returns what is held and counted.
func (b *ReorderBuffer) Stats() ReorderStats {
	s := b.stats
	s.Flows = len(b.flows)
	return s
}

package flow

import (
	"errors"

	"github.com/cosim-go/cosim/relay/frame"
)

const (
	defaultMaxHeldBytes = 512 << 20

	// heldCost is about what a held frame takes beside its bytes.
	heldCost = 128
)

// ReorderOptions are the options of [NewReorderBuffer]. The zero value has the defaults.
type ReorderOptions struct {
	// MaxFlows is how many flows are remembered. Above it the one that was not touched for the
	// longest time is forgotten, of those that hold nothing if there is one: a request that was
	// cancelled may never see the END that would clean it up. 0 and less is 8192.
	MaxFlows int

	// MaxHeldBytes is how many bytes all flows together may hold, counting 128 for each frame
	// beside its own. Above it the flow that was not touched for the longest time, of those that
	// hold something, is forgotten; a flow that needs more by itself overflows. 0 and less is
	// 512 MiB.
	MaxHeldBytes int64
}

// ReorderStats is what a [ReorderBuffer] holds and counts.
type ReorderStats struct {
	Held           int    // frames that are held now
	HeldBytes      int64  // bytes of these frames
	Flows          int    // flows that are remembered now
	ForgottenFlows uint64 // flows given up because they were too many or held too much
	Dropped        uint64 // frames that were held and are lost: their flow was forgotten or cleaned up
}

// A ReorderBuffer puts the frames of each flow in the order of their numbers: what comes too
// early is held until its turn. Frames outside of flows pass it at once.
//
// For each frame, [ReorderBuffer.Accept] says whether to deliver it, and
// [ReorderBuffer.Release] gives what follows it. Whoever delivers an END or ERR, whichever of
// both it came from, calls [ReorderBuffer.Cleanup] before going on.
//
// A buffer is not safe for concurrent use. Frames in order cost no allocation.
type ReorderBuffer struct {
	maxHeld  int
	maxFlows int
	maxBytes int64
	flows    store[flowState]
	shelf    shelf
	cost     int64 // of all that is held
	run      int32 // flow that lets go what it holds
	next     int32 // held frame of run that is due; 0 when none is
	stats    ReorderStats
}

type flowState struct {
	expected uint64 // the number that is due
	cost     int64  // of the frames held
	chain    int32  // where they are on the shelf
	held     int32  // how many they are
}

// NewReorderBuffer returns a buffer that holds at most maxHeld frames for each flow; 0 and less
// takes frames in order alone. No options are the defaults.
func NewReorderBuffer(maxHeld int, o *ReorderOptions) *ReorderBuffer {
	if o == nil {
		o = &ReorderOptions{}
	}
	b := &ReorderBuffer{maxHeld: maxHeld, maxFlows: o.MaxFlows, maxBytes: o.MaxHeldBytes}
	if b.maxFlows <= 0 {
		b.maxFlows = defaultMaxFlows
	}
	if b.maxBytes <= 0 {
		b.maxBytes = defaultMaxHeldBytes
	}
	return b
}

// errUnreleased is a mistake of the caller, and of no kind: no peer is to blame.
var errUnreleased = errors.New("flow: Accept before Release said that there is no more")

// Accept takes a frame: its head, and its bytes as they go on. When it returns true the frame
// is to be delivered now, and after it what Release returns, until that says that there is no
// more. Otherwise, without an error, a copy of wire is held. wire is the caller's again in
// either case.
//
// A frame that is refused changes nothing. The error is of kind [frame.ErrProtocol] and wraps
// [ErrStale], [ErrDuplicate] or [ErrOverflow].
func (b *ReorderBuffer) Accept(h *frame.Head, wire []byte) (ready bool, err error) {
	if b.next != 0 {
		return false, errUnreleased
	}
	if !h.Type.Flow() {
		return true, nil
	}
	place := b.flows.find(&h.ID, &h.RoutingID)
	switch {
	case place == 0 && h.Seq == 0:
		place = b.open(h)
	case place == 0 || h.Seq != b.flows.slots[place].value.expected:
		return false, b.hold(place, h, wire)
	}
	b.deliver(place)
	return true, nil
}

// deliver counts a frame as delivered and finds out whether the next one is held.
func (b *ReorderBuffer) deliver(place int32) {
	state := &b.flows.slots[place].value
	state.expected++
	if state.held == 0 {
		b.next = 0
		b.flows.touch(place, resting)
		return
	}
	b.run, b.next = place, b.shelf.find(place, state.expected)
	b.flows.touch(place, holding)
}

// hold keeps a frame that comes too early, or refuses it. place is 0 for a flow not seen yet.
func (b *ReorderBuffer) hold(place int32, h *frame.Head, wire []byte) error {
	var state flowState
	if place != 0 {
		state = b.flows.slots[place].value
	}
	cost := heldCost + int64(len(wire))
	switch {
	case h.Seq < state.expected:
		return refused(*h, ErrStale)
	case state.held > 0 && b.shelf.find(place, h.Seq) != 0:
		return refused(*h, ErrDuplicate)
	case int(state.held) >= b.maxHeld, state.cost+cost > b.maxBytes:
		return refused(*h, ErrOverflow)
	}
	if place == 0 {
		place = b.open(h)
	}
	b.flows.touch(place, holding)
	for b.cost+cost > b.maxBytes {
		b.giveUp(b.flows.oldest(holding))
	}
	flow := &b.flows.slots[place].value
	flow.chain = b.shelf.put(place, flow.chain, h, wire)
	flow.held++
	flow.cost += cost
	b.cost += cost
	return nil
}

// open begins a flow, in the place of another one when there are too many.
func (b *ReorderBuffer) open(h *frame.Head) int32 {
	if b.flows.len() >= b.maxFlows {
		place := b.flows.oldest(resting)
		if place == 0 {
			place = b.flows.oldest(holding)
		}
		b.giveUp(place)
	}
	return b.flows.add(&Key{h.ID, h.RoutingID}, resting)
}

// giveUp forgets a flow to make room for another one.
func (b *ReorderBuffer) giveUp(place int32) {
	b.forget(place)
	b.stats.ForgottenFlows++
}

// forget forgets a flow with what it holds.
func (b *ReorderBuffer) forget(place int32) {
	state := &b.flows.slots[place].value
	b.stats.Dropped += uint64(state.held)
	for state.chain != 0 {
		b.shelf.spares.give(b.unhold(place, state.chain).wire)
	}
	b.flows.remove(place)
}

// unhold takes a frame of a flow off the shelf.
func (b *ReorderBuffer) unhold(place, at int32) heldFrame {
	state := &b.flows.slots[place].value
	held, chain := b.shelf.take(place, state.chain, at)
	cost := heldCost + int64(len(held.wire))
	state.chain = chain
	state.held--
	state.cost -= cost
	b.cost -= cost
	return held
}

// Due reports whether Release has a frame: whether the last accepted one let some go.
func (b *ReorderBuffer) Due() bool { return b.next != 0 }

// Release returns the next frame that the last accepted one let go, to be delivered now, and
// false when there is none left. The bytes are valid until the next call of Accept.
func (b *ReorderBuffer) Release() (h frame.Head, wire []byte, ok bool) {
	if b.next == 0 {
		return frame.Head{}, nil, false
	}
	held := b.unhold(b.run, b.next)
	key := &b.flows.slots[b.run].key
	h = frame.Head{Type: held.typ, ID: key.RID, RoutingID: key.XID, Seq: held.seq}
	b.deliver(b.run)
	b.shelf.spares.give(held.wire) // to be taken by the next Accept, if any
	return h, held.wire, true
}

// Cleanup forgets a flow with what it holds: the next frame of the same ids has to be number 0
// again. It is to be called for each END and ERR when that is delivered, not when it is held;
// what the flow holds beyond it is never let go. A flow that is unknown is none.
func (b *ReorderBuffer) Cleanup(k Key) {
	place := b.flows.find(&k.RID, &k.XID)
	if place == 0 {
		return
	}
	if b.run == place {
		b.next = 0
	}
	b.forget(place)
}

// Stats returns what is held and counted.
func (b *ReorderBuffer) Stats() ReorderStats {
	s := b.stats
	s.Held, s.HeldBytes, s.Flows = b.shelf.count, b.shelf.bytes, b.flows.len()
	return s
}

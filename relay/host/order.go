package host

import (
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// An order is how far the numbers of a flow are that a cartridge sends. The slave between the host and the switch puts
// frames in order, and ends the relay when it cannot. Following the numbers as it does, a host knows before which
// cartridge that would be for, and ends that one alone.
type order struct {
	key   flow.Key
	owner *cartridge
	next  uint64              // the number that is due
	early map[uint64]struct{} // what the slave holds until then
	end   uint64              // the number behind the END or ERR; 0 before that has come
	used  uint64
}

// take takes the number of a frame. It fails where the slave would, which holds max frames.
func (o *order) take(head *frame.Head, max int) error {
	seq := head.Seq
	_, held := o.early[seq]
	switch {
	case seq < o.next:
		return frame.Errorf(frame.ErrProtocol, "frame %d of a flow comes again, or too late", seq)
	case seq > o.next && held:
		return frame.Errorf(frame.ErrProtocol, "frame %d of a flow comes again", seq)
	case seq > o.next && len(o.early) >= max:
		return frame.Errorf(frame.ErrProtocol, "frame %d of a flow comes where %d is due, and %d wait already", seq, o.next, len(o.early))
	}
	if head.Type.Terminal() {
		o.end = seq + 1
	}
	if seq > o.next {
		if o.early == nil {
			o.early = map[uint64]struct{}{}
		}
		o.early[seq] = struct{}{}
		return nil
	}
	for o.next++; len(o.early) > 0; o.next++ {
		if _, held := o.early[o.next]; !held {
			break
		}
		delete(o.early, o.next)
	}
	return nil
}

// over reports whether the flow's end has come, and all before it.
func (o *order) over() bool { return o.end > 0 && o.next >= o.end }

// dueNumber returns the number of a frame that a host adds to a flow, and forgets the flow: the frame ends it. Where frames
// of the cartridge are missing it takes the place of the first of them, or nobody would ever see it.
func (t *tables) dueNumber(k flow.Key) uint64 {
	o := t.flows[k]
	if o == nil {
		return 0
	}
	delete(t.flows, k)
	return o.next
}

// orderOf returns the order of a flow, and makes one when there is none.
func (t *tables) orderOf(k flow.Key, owner *cartridge) *order {
	o := t.flows[k]
	if o == nil {
		makeRoom(t, t.flows, func(o *order) { delete(t.flows, o.key) })
		o = &order{key: k, owner: owner}
		t.flows[k] = o
	}
	o.used = t.now()
	return o
}

package outbox

import (
	"encoding/binary"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/buffer"
)

// Send numbers a frame, encodes it and queues it. It sets f.Seq when it numbers, and keeps
// neither f nor what f refers to. When 64 KiB wait it flushes.
//
// It fails with [frame.ErrEncode] or [frame.ErrFrameTooLarge] for a frame that cannot be
// written, and then has queued nothing and used up no number. An outbox that is dead returns
// its error, [ErrClosed] after Close and Finish.
func (o *Outbox) Send(f *frame.Frame) error {
	if err := f.Sendable(); err != nil {
		return err
	}
	o.mu.Lock()
	late, err := o.send(f)
	o.release()
	o.tell(late, f.Type)
	return err
}

// Forward queues a frame that was read: body is what [frame.Reader.Wire] returned, without its
// prefix, and h its head. The frame gets its number and, when it has no routing id and xid is
// one, that; all else goes on as it came. Nothing of body is kept. It fails as Send does.
func (o *Outbox) Forward(body []byte, h *frame.Head, xid frame.ID) error {
	o.mu.Lock()
	late, err := o.forward(body, h, xid)
	o.release()
	o.tell(late, h.Type)
	return err
}

// Forget forgets the numbers of a flow, one that ends here without an END or ERR.
func (o *Outbox) Forget(k flow.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.flows != nil {
		o.flows.Remove(k)
	}
}

// Flows returns how many flows have numbers now; 0 when frames are not numbered.
func (o *Outbox) Flows() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.flows == nil {
		return 0
	}
	return o.flows.Stats().Flows
}

// release unlocks after a frame.
func (o *Outbox) release() {
	if !o.options.Manual && o.queue.tail() >= flushSize {
		o.flush()
	}
	o.watch()
	o.mu.Unlock()
}

// tell counts a straggler.
func (o *Outbox) tell(late bool, t frame.Type) {
	if late && o.options.Stragglers != nil {
		o.options.Stragglers(t)
	}
}

func (o *Outbox) send(f *frame.Frame) (late bool, err error) {
	key := flow.Key{RID: f.ID, XID: f.RoutingID}
	if late, err := o.refuse(f.Type, key); late || err != nil {
		return late, err
	}
	if o.flows != nil && f.Type.Flow() {
		f.Seq = o.flows.Next(key)
	}
	dst, begin := o.queue.begin(frame.PrefixSize + buffer.FrameSize(f))
	wire, err := f.Append(append(dst, 0, 0, 0, 0))
	return false, o.commit(wire, begin, err, f.Type, key)
}

func (o *Outbox) forward(body []byte, h *frame.Head, xid frame.ID) (late bool, err error) {
	key := flow.KeyOf(*h)
	if key.XID.IsZero() {
		key.XID = xid
	}
	if late, err := o.refuse(h.Type, key); late || err != nil {
		return late, err
	}
	seq := h.Seq
	if o.flows != nil && h.Type.Flow() {
		seq = o.flows.Next(key)
	}
	dst, begin := o.queue.begin(frame.PrefixSize + len(body) + restampSize)
	if o.flows == nil && key.XID == h.RoutingID {
		dst = append(append(dst, 0, 0, 0, 0), body...)
	} else {
		dst, err = frame.AppendRestamped(dst, body, h, seq, xid)
	}
	return false, o.commit(dst, begin, err, h.Type, key)
}

// restampSize is by how many bytes a frame may grow: keys, a number, a routing id and the map's
// head.
const restampSize = 1 + 9 + 1 + 17 + 9

// refuse reports whether a frame is not to be written.
func (o *Outbox) refuse(t frame.Type, k flow.Key) (late bool, err error) {
	switch {
	case o.err != nil:
		return false, o.err
	case o.ending:
		return false, ErrClosed
	case o.ended == nil || !t.Flow():
		return false, nil
	case t == frame.TypeReq:
		o.ended.Remove(k)
		return false, nil
	}
	return o.ended.Has(k), nil
}

// commit takes in a frame that was appended to the queue from begin on, unless there was an
// error.
func (o *Outbox) commit(wire []byte, begin int, err error, t frame.Type, k flow.Key) error {
	if err == nil {
		err = prefix(wire[begin:], o.max, t)
	}
	if err != nil {
		if o.flows != nil && t.Flow() {
			o.flows.TakeBack(k)
		}
		return err
	}
	o.queue.commit(wire)
	o.taken.Add(uint64(len(wire) - begin))
	if t.Terminal() {
		if o.flows != nil {
			o.flows.Remove(k)
		}
		if o.ended != nil {
			o.ended.Add(k)
		}
	}
	return nil
}

// prefix writes a frame's length in front of it.
func prefix(wire []byte, limit int, t frame.Type) error {
	size := len(wire) - frame.PrefixSize
	if size > limit {
		return frame.Errorf(frame.ErrFrameTooLarge, "a %v frame of %d bytes, at most %d are written", t, size, limit)
	}
	binary.BigEndian.PutUint32(wire, uint32(size))
	return nil
}

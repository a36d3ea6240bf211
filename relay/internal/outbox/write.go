package outbox

import (
	"context"
	"encoding/binary"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

func (o *Outbox) queued() int { return len(o.buf) + o.writing }

// dead returns why no frame is taken.
func (o *Outbox) dead() error {
	if o.err == nil && o.ending {
		return ErrClosed
	}
	return o.err
}

func (o *Outbox) send(f *frame.Frame) error {
	if err := o.dead(); err != nil {
		return err
	}
	if o.o.Number {
		o.flows.Assign(f)
	}
	begin := len(o.buf)
	b, err := f.Append(append(o.buf, 0, 0, 0, 0))
	if err == nil {
		err = prefix(b[begin:], o.max, f.Type)
	}
	return o.queue(b, err, f.Type, flow.Key{RID: f.ID, XID: f.RoutingID})
}

func (o *Outbox) forward(body []byte, h *frame.Head, xid frame.ID) error {
	if err := o.dead(); err != nil {
		return err
	}
	key := flow.KeyOf(*h)
	if key.XID.IsZero() {
		key.XID = xid
	}
	f := frame.Frame{Type: h.Type, ID: key.RID, RoutingID: key.XID, Seq: h.Seq}
	if o.o.Number {
		o.flows.Assign(&f)
	}
	begin := len(o.buf)
	b, err := frame.AppendRestamped(o.buf, body, h, f.Seq, xid)
	if err == nil {
		err = prefix(b[begin:], o.max, h.Type)
	}
	return o.queue(b, err, h.Type, key)
}

// wait waits until ready is true.
func (o *Outbox) wait(ctx context.Context, ready func() bool) error {
	for {
		o.mu.Lock()
		if o.err != nil || ready() {
			defer o.mu.Unlock()
			return o.err
		}
		if o.changed == nil {
			o.changed = make(chan struct{})
		}
		changed := o.changed
		o.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// queue takes a frame that was appended, unless there was an error.
func (o *Outbox) queue(b []byte, err error, t frame.Type, k flow.Key) error {
	numbered := o.o.Number && t.Flow()
	if err != nil {
		if numbered {
			o.flows.Unassign(k)
		}
		return err
	}
	o.buf = b
	if numbered && t.Terminal() {
		o.flows.Remove(k)
	}
	return nil
}

// start writes what waits in a goroutine, unless somebody is writing.
func (o *Outbox) start() {
	if o.busy || o.corked || o.err != nil || len(o.buf) == 0 {
		return
	}
	o.busy = true
	o.done.Add(1)
	go o.run()
}

func (o *Outbox) run() {
	defer o.done.Done()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && len(o.buf) > 0 {
		o.buf, o.spare = o.spare[:0], o.buf
		o.writing = len(o.spare)
		o.mu.Unlock()
		_, err := o.w.Write(o.spare)
		o.mu.Lock()
		o.writing = 0
		o.change()
		if err != nil {
			o.end(frame.Errorf(frame.ErrIO, "write: %w", err), o.o.Failed)
		}
	}
	o.busy = false
}

func (o *Outbox) end(err error, failed func(error)) {
	if o.err != nil {
		return
	}
	o.err, o.buf = err, nil
	o.change()
	if o.w != nil {
		o.w.Close()
	}
	if failed != nil {
		go failed(err)
	}
}

func (o *Outbox) change() {
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
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

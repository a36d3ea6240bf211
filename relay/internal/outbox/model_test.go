package outbox_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
)

// A twin is what an outbox has to write, in the simplest form.
type twin struct {
	numbered bool
	next     map[flow.Key]uint64
	ended    []flow.Key // the oldest first
	remember int
	max      int
	written  []string
	late     int
}

func newTwin(o *outbox.Options) *twin {
	return &twin{numbered: o.Number, next: map[flow.Key]uint64{}, remember: o.RememberEnded, max: o.MaxFrame}
}

// take returns whether the frame is to be written, or counted, without an error.
func (w *twin) take(f frame.Frame) (good bool) {
	key := flow.KeyOf(f.Head())
	if f.Type.Flow() && w.remember > 0 {
		if f.Type == frame.TypeReq {
			w.forgetEnd(key)
		} else if w.hasEnded(key) {
			w.late++
			return true
		}
	}
	if f.Type.Flow() && w.numbered {
		f.Seq = w.next[key]
	}
	body, err := f.Append(nil)
	if err != nil || len(body) > w.max {
		return false
	}
	w.written = append(w.written, describe(&f))
	if f.Type.Flow() && w.numbered {
		w.next[key]++
	}
	if f.Type.Terminal() {
		delete(w.next, key)
		w.forgetEnd(key)
		w.ended = append(w.ended, key)
		w.ended = w.ended[max(0, len(w.ended)-w.remember):]
	}
	return true
}

func (w *twin) hasEnded(k flow.Key) bool {
	for _, e := range w.ended {
		if e == k {
			return true
		}
	}
	return false
}

func (w *twin) forgetEnd(k flow.Key) {
	for i, e := range w.ended {
		if e == k {
			w.ended = append(w.ended[:i:i], w.ended[i+1:]...)
			return
		}
	}
}

func describe(f *frame.Frame) string {
	return fmt.Sprintf("%v %v %v number %d, %d bytes %x", f.Type, f.ID, f.RoutingID, f.Seq, len(f.Payload), f.Payload[:min(len(f.Payload), 8)])
}

// randomFrame returns a frame of one of a few flows, which at times cannot be written.
func randomFrame(r *rand.Rand) frame.Frame {
	types := []frame.Type{
		frame.TypeReq, frame.TypeChunk, frame.TypeChunk, frame.TypeLog, frame.TypeEnd, frame.TypeErr,
		frame.TypeCancel, frame.TypeCredit, frame.TypeHeartbeat, frame.TypeStreamStart, frame.TypeStreamEnd,
	}
	f := frame.Frame{Type: types[r.IntN(len(types))], ID: frame.Number(uint64(r.IntN(4))), Seq: uint64(r.IntN(300))}
	if r.IntN(2) == 0 {
		f.RoutingID = frame.Number(uint64(r.IntN(3)))
	}
	if f.Type == frame.TypeChunk && r.IntN(20) != 0 {
		f.ChunkIndex, f.Checksum = frame.Some[uint64](0), frame.Some(r.Uint64())
	}
	if f.Type == frame.TypeCredit {
		f.Credit = frame.Some[uint64](1)
	}
	sizes := []int{0, 1, 10, 100, 500, 1000, 5000, 40_000, 70_000}
	f.Payload = bytes.Repeat([]byte{byte(r.Uint32())}, sizes[r.IntN(len(sizes))])
	return f
}

// An outbox writes what a simple twin says, whatever the link takes at once.
func TestAnOutboxWritesWhatItsTwinSays(t *testing.T) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 1))
		late := 0
		options := &outbox.Options{
			Number: r.IntN(4) != 0, RememberEnded: []int{0, 2, 100}[r.IntN(3)], MaxFrame: 60_000,
			Stragglers: func(frame.Type) { late++ }, Failed: func(err error) { t.Error(err) },
		}
		link := newMoodyLink(seed, -1)
		o, w := outbox.New(link, options), newTwin(options)
		for range 200 {
			step(t, r, o, w)
		}
		if err := o.Finish(t.Context()); err != nil {
			t.Fatalf("seed %d: Finish = %v", seed, err)
		}
		wire, closedOnce := link.taken()
		var got []string
		for _, f := range readAll(t, bytes.NewReader(wire)) {
			got = append(got, describe(f))
		}
		if !reflect.DeepEqual(got, w.written) {
			t.Fatalf("seed %d: the link took\n%q,\nwant\n%q", seed, got, w.written)
		}
		if late != w.late || o.Queued() != 0 || !closedOnce {
			t.Fatalf("seed %d: %d stragglers, want %d; %d bytes queued; closed once: %v", seed, late, w.late, o.Queued(), closedOnce)
		}
	}
}

// step does the same to both.
func step(t *testing.T, r *rand.Rand, o *outbox.Outbox, w *twin) {
	t.Helper()
	switch r.IntN(12) {
	case 0:
		o.Flush()
	case 1:
		key := flow.Key{RID: frame.Number(uint64(r.IntN(4)))}
		o.Forget(key)
		delete(w.next, key)
	case 2, 3, 4, 5, 6:
		f := randomFrame(r)
		body, err := f.Append(nil)
		if err != nil {
			return
		}
		head, xid := f.Head(), frame.ID{}
		if r.IntN(2) == 0 {
			xid = frame.Number(uint64(r.IntN(3)))
		}
		err = o.Forward(body, &head, xid)
		clear(body)
		if f.RoutingID.IsZero() {
			f.RoutingID = xid
		}
		if good := w.take(f); good != (err == nil) {
			t.Fatalf("Forward(%v) = %v", describe(&f), err)
		}
	default:
		f := randomFrame(r)
		sent := f
		err := o.Send(&sent)
		good := w.take(f)
		clear(f.Payload)
		if good != (err == nil) {
			t.Fatalf("Send(%v) = %v", describe(&f), err)
		}
		if kind := frame.KindOf(err); err != nil && kind != frame.ErrEncode && kind != frame.ErrFrameTooLarge {
			t.Fatalf("Send(%v) = %v of kind %q", describe(&f), err, kind)
		}
	}
	if err := o.Room(context.Background()); err != nil {
		t.Fatal(err)
	}
}

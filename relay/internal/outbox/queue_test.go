package outbox_test

import (
	"bytes"
	"testing"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/relaytest"
)

func TestFramesOfAllSizesWaitInOrder(t *testing.T) {
	link := newMoodyLink(1, -1)
	o := outbox.New(nil, &outbox.Options{Corked: true, Number: true, MaxFrame: frame.HardMaxFrame})
	sizes := []int{10, 3000, 5000, 80_000, 80_000, 80_000, 30_000, 262_144, 1, 5_000_000, 10, 262_144, 100_000}
	for _, size := range sizes {
		if err := o.Send(log(frame.Number(1), size)); err != nil {
			t.Fatal(err)
		}
	}
	o.Uncork(link)
	if err := o.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	in := frame.NewReader(&link.got, &frame.ReaderOptions{MaxFrame: frame.HardMaxFrame})
	for i, size := range sizes {
		f, err := in.Next()
		if err != nil {
			t.Fatal(err)
		}
		if f.Seq != uint64(i) || len(f.Payload) != size {
			t.Errorf("Next = number %d, %d bytes, want number %d, %d bytes", f.Seq, len(f.Payload), i, size)
		}
	}
}

func TestMuchIsWrittenWithoutFlush(t *testing.T) {
	overEach(t, func(t *testing.T, near, far relaytest.Conn) {
		o := outbox.New(near, nil)
		defer o.Close()
		for range 3 {
			if err := o.Send(log(frame.Number(1), 30_000)); err != nil {
				t.Fatal(err)
			}
		}
		in := frame.NewReader(far, nil)
		for range 3 {
			if _, err := in.Next(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestNothingIsWrittenByItselfWhereTheCallerFlushes(t *testing.T) {
	near, far := relaytest.BufferedPipe(1 << 20)
	defer far.Close()
	o := outbox.New(near, &outbox.Options{Manual: true})
	defer o.Close()
	for range 5 {
		if err := o.Send(log(frame.Number(1), 30_000)); err != nil {
			t.Fatal(err)
		}
	}
	if o.Queued() < 150_000 {
		t.Errorf("Queued = %d, want all of 5 frames of 30 000 bytes", o.Queued())
	}
	o.Flush()
	in := frame.NewReader(far, nil)
	for range 5 {
		if _, err := in.Next(); err != nil {
			t.Fatal(err)
		}
	}
}

// An outbox that does not number passes on what came, also what nobody would write like that.
func TestAFrameThatIsNotNumberedGoesOnByteForByte(t *testing.T) {
	// No number, and a version in a head that is longer than need be.
	body := []byte{0xa4, 0x00, 0x18, 0x04, 0x01, 0x05, 0x02, 0x07, 0x18, 0x63, 0xf6}
	head, err := frame.Check(body)
	if err != nil {
		t.Fatal(err)
	}
	link := newMoodyLink(1, -1)
	o := outbox.New(link, nil)
	for _, xid := range []frame.ID{{}, frame.Number(9)} {
		if err := o.Forward(body, &head, xid); err != nil {
			t.Fatal(err)
		}
	}
	o.Forget(flow.Key{RID: head.ID}) // nothing to forget
	if err := o.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	in := frame.NewReader(&link.got, nil)
	if _, err := in.Next(); err != nil || !bytes.Equal(in.Wire()[frame.PrefixSize:], body) {
		t.Errorf("Wire = % x, %v, want % x", in.Wire(), err, body)
	}
	if f, err := in.Next(); err != nil || f.RoutingID != frame.Number(9) || f.Seq != 0 {
		t.Errorf("Next = %+v, %v", f, err)
	}
}

// The room that was made for a frame which cannot be written keeps nobody from being written.
func TestAFrameThatCannotBeWrittenLeavesNoGap(t *testing.T) {
	link := newMoodyLink(1, -1)
	o := outbox.New(nil, &outbox.Options{Corked: true})
	bad := log(frame.Number(1), 50_000)
	bad.ContentType = []byte{0xff}
	for range 3 {
		if err := o.Send(log(frame.Number(1), 85_000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Send(bad); frame.KindOf(err) != frame.ErrEncode {
		t.Fatalf("Send = %v", err)
	}
	if err := o.Send(log(frame.Number(1), 300_000)); err != nil {
		t.Fatal(err)
	}
	o.Uncork(link)
	if err := o.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if frames := readAll(t, &link.got); len(frames) != 4 || len(frames[3].Payload) != 300_000 {
		t.Errorf("%d frames arrived, want 4", len(frames))
	}
}

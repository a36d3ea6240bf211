package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// A link that dies after any number of bytes got exactly the bytes of the frames before, and
// everybody is told.
func TestALinkThatDiesAtEveryByte(t *testing.T) {
	var whole bytes.Buffer
	w := frame.NewWriter(&whole, nil)
	rid := frame.NewUUID()
	for i := range uint64(4) {
		f := log(rid, 10)
		f.Seq = i
		if err := w.Write(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for cut := range whole.Len() {
		link := newMoodyLink(uint64(cut), cut)
		failed := make(chan error, 2)
		o := outbox.New(link, &outbox.Options{Number: true, MaxQueued: 1, Failed: func(err error) { failed <- err }})
		for range 4 {
			if err := o.Send(log(rid, 10)); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatal(err)
			}
			if cut%2 == 0 {
				o.Flush()
			}
		}
		o.Flush()
		err := <-failed
		if !errors.Is(err, io.ErrUnexpectedEOF) || frame.KindOf(err) != frame.ErrIO {
			t.Fatalf("cut after %d bytes: Failed(%v)", cut, err)
		}
		if _, closed := link.taken(); !closed {
			t.Fatalf("cut after %d bytes: the link is open", cut)
		}
		for name, got := range map[string]error{
			"Send": o.Send(log(rid, 1)), "Room": o.Room(t.Context()), "Finish": o.Finish(t.Context()),
		} {
			if got != err {
				t.Fatalf("cut after %d bytes: %s = %v, want %v", cut, name, got, err)
			}
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		got, closedOnce := link.taken()
		if !bytes.Equal(got, whole.Bytes()[:cut]) || !closedOnce || len(failed) > 0 || o.Queued() != 0 {
			t.Fatalf("cut after %d bytes: the link took % x, closed once: %v, %d failures more", cut, got, closedOnce, len(failed))
		}
	}
}

// What is queued behind the bytes that a link did not take is not written to it.
func TestALinkThatDiedIsLeftAlone(t *testing.T) {
	for _, quick := range []bool{true, false} {
		failed := make(chan error, 1)
		o := outbox.New(nil, &outbox.Options{Corked: true, Failed: func(err error) { failed <- err }})
		for range 4 {
			if err := o.Send(log(frame.Number(1), 300_000)); err != nil {
				t.Fatal(err)
			}
		}
		link := newMoodyLink(1, 10)
		if quick {
			o.Uncork(link)
		} else {
			o.Uncork(struct{ io.WriteCloser }{link})
		}
		<-failed
		if err := o.Close(); err != nil {
			t.Error(err)
		}
		if link.late > 0 {
			t.Errorf("%d writes to a link that had died", link.late)
		}
	}
}

// A lyingLink says something of what it was given.
type lyingLink struct {
	discard
	n func(p []byte) int
}

func (l lyingLink) Write(p []byte) (int, error)    { return l.n(p), nil }
func (l lyingLink) TryWrite(p []byte) (int, error) { return l.n(p), nil }

func TestALinkThatBreaksTheRulesOfWriters(t *testing.T) {
	for name, l := range map[string]lyingLink{
		"more than there was": {n: func(p []byte) int { return len(p) + 1 }},
		"less than none":      {n: func([]byte) int { return -1 }},
		"less without error":  {n: func(p []byte) int { return len(p) - 1 }},
	} {
		links := []io.WriteCloser{struct{ io.WriteCloser }{l}, l}
		if name == "less without error" {
			links = links[:1] // with TryWrite it means that the rest has to wait
		}
		for _, link := range links {
			failed := make(chan error, 1)
			o := outbox.New(link, &outbox.Options{Failed: func(err error) { failed <- err }})
			if err := o.Send(log(frame.Number(1), 10)); err != nil {
				t.Fatal(err)
			}
			o.Flush()
			if err := <-failed; frame.KindOf(err) != frame.ErrIO {
				t.Errorf("%s: Failed(%v)", name, err)
			}
			o.Close()
		}
	}
}

func TestAFarEndThatClosesFailsTheOutbox(t *testing.T) {
	overEach(t, func(t *testing.T, near, far relaytest.Conn) {
		failed := make(chan error, 2)
		o := outbox.New(near, &outbox.Options{Failed: func(err error) { failed <- err }})
		far.Close()
		for len(failed) == 0 {
			if err := o.Send(log(frame.Number(1), 1000)); err != nil {
				break
			}
			o.Flush()
		}
		if err := <-failed; frame.KindOf(err) != frame.ErrIO {
			t.Errorf("Failed(%v)", err)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
}

// fill sends until the link takes no more. It needs a reader that does nothing.
func fill(t *testing.T, o *outbox.Outbox) {
	t.Helper()
	for o.Queued() < 1<<20 {
		if err := o.Send(log(frame.Number(1), 60_000)); err != nil {
			t.Fatal(err)
		}
		o.Flush()
	}
}

func TestCloseWakesABlockedWrite(t *testing.T) {
	overEach(t, func(t *testing.T, near, _ relaytest.Conn) {
		o := outbox.New(near, &outbox.Options{MaxQueued: 1000, Failed: func(err error) { t.Errorf("Failed(%v)", err) }})
		fill(t, o)
		room := make(chan error)
		go func() { room <- o.Room(context.Background()) }()
		if err := o.Close(); err != nil {
			t.Error(err)
		}
		if err := <-room; err != outbox.ErrClosed {
			t.Errorf("Room = %v, want %v", err, outbox.ErrClosed)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestFinishEndsWithItsContext(t *testing.T) {
	overEach(t, func(t *testing.T, near, _ relaytest.Conn) {
		o := outbox.New(near, nil)
		fill(t, o)
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("cause")
		go cancel(cause)
		if err := o.Finish(ctx); err != cause {
			t.Errorf("Finish = %v, want %v", err, cause)
		}
		if err := o.Send(log(frame.Number(1), 1)); err != outbox.ErrClosed {
			t.Errorf("Send = %v, want %v", err, outbox.ErrClosed)
		}
	})
}

func TestFinishWritesAllToABlockedLink(t *testing.T) {
	overEach(t, func(t *testing.T, near, far relaytest.Conn) {
		o := outbox.New(near, nil)
		fill(t, o)
		queued := o.Queued()
		finished := make(chan error)
		go func() { finished <- o.Finish(t.Context()) }()
		size := 0
		for _, f := range readAll(t, far) {
			size += len(f.Payload)
		}
		if err := <-finished; err != nil {
			t.Error(err)
		}
		if size < queued-size/60_000*100 {
			t.Errorf("%d bytes arrived of %d that waited", size, queued)
		}
	})
}

func TestNothingIsTakenWhileFinishWaits(t *testing.T) {
	inMemory(t, func(t *testing.T, near, _ relaytest.Conn) {
		o := outbox.New(near, nil)
		fill(t, o)
		finished := make(chan error)
		go func() { finished <- o.Finish(context.Background()) }()
		synctest.Wait()
		if err := o.Send(log(frame.Number(1), 1)); err != outbox.ErrClosed {
			t.Errorf("Send = %v, want %v", err, outbox.ErrClosed)
		}
		o.Close()
		if err := <-finished; err != outbox.ErrClosed {
			t.Errorf("Finish = %v, want %v", err, outbox.ErrClosed)
		}
	})
}

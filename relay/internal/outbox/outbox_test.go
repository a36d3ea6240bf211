package outbox_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/relaytest"
)

func log(rid frame.ID, size int) *frame.Frame {
	return &frame.Frame{Type: frame.TypeLog, ID: rid, Payload: make([]byte, size)}
}

func TestFramesArriveNumberedPerFlow(t *testing.T) {
	overEach(t, func(t *testing.T, near, far relaytest.Conn) {
		o := outbox.New(near, &outbox.Options{Number: true})
		defer o.Close()
		rid := frame.NewUUID()
		for range 3 {
			if err := o.Send(log(rid, 10)); err != nil {
				t.Fatal(err)
			}
		}
		o.Flush()
		in := frame.NewReader(far, nil)
		for want := range uint64(3) {
			f, err := in.Next()
			if err != nil {
				t.Fatal(err)
			}
			if f.ID != rid || f.Seq != want {
				t.Errorf("Next = %v number %d, want %v number %d", f.ID, f.Seq, rid, want)
			}
		}
	})
}

// Many senders, each with its flows, and a reader that is slower: every flow arrives whole, in
// order and numbered without a gap, over every kind of connection.
func TestConcurrentSendersKeepTheOrderOfEachFlow(t *testing.T) {
	const senders, flows, frames = 8, 4, 60
	sizes := []int{0, 100, 3000, 50_000}
	overEach(t, func(t *testing.T, near, far relaytest.Conn) {
		o := outbox.New(near, &outbox.Options{Number: true, MaxQueued: 300_000, Failed: func(err error) { t.Error(err) }})
		var group sync.WaitGroup
		for s := range senders {
			group.Go(func() {
				for i := range frames * flows {
					f := log(frame.Number(uint64(s*flows+i%flows)), sizes[(s+i)%len(sizes)])
					f.Len = frame.Some(uint64(i / flows))
					if i/flows == frames/2 || i/flows == frames-1 {
						f.Type = frame.TypeEnd
					}
					if err := send(o, f, i); err != nil {
						t.Error(err)
					}
					if i%3 == 0 {
						o.Flush()
					}
					if o.Full() {
						if err := o.Room(t.Context()); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		go func() {
			group.Wait()
			if err := o.Finish(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		expectFlows(t, readAll(t, far), senders*flows, frames)
	})
}

// send sends a frame, or forwards it as one that was read.
func send(o *outbox.Outbox, f *frame.Frame, i int) error {
	if i%2 == 0 {
		return o.Send(f)
	}
	f.Seq = 77
	body, err := f.Append(nil)
	if err != nil {
		return err
	}
	head := f.Head()
	return o.Forward(body, &head, frame.ID{})
}

// expectFlows expects flows whose frames count up in their length, with an END in the middle.
func expectFlows(t *testing.T, got []*frame.Frame, flows, frames int) {
	t.Helper()
	next := map[frame.ID]uint64{}
	for _, f := range got {
		want := next[f.ID]
		next[f.ID]++
		number := want
		if want > uint64(frames/2) {
			number -= uint64(frames/2) + 1
		}
		if f.Len.Or(0) != want || f.Seq != number {
			t.Fatalf("flow %v: frame %d number %d, want frame %d number %d", f.ID, f.Len.Or(0), f.Seq, want, number)
		}
	}
	for id, n := range next {
		if n != uint64(frames) {
			t.Errorf("flow %v: %d frames, want %d", id, n, frames)
		}
	}
	if len(next) != flows {
		t.Errorf("%d flows, want %d", len(next), flows)
	}
}

func TestAFrameThatCannotBeWrittenUsesUpNoNumber(t *testing.T) {
	link := newMoodyLink(1, -1)
	o := outbox.New(link, &outbox.Options{Number: true, MaxFrame: 500})
	rid := frame.NewUUID()
	bad := log(rid, 0)
	bad.ContentType = []byte{0xff}
	for _, c := range []struct {
		frame *frame.Frame
		want  error
	}{
		{log(rid, 1), nil}, {log(rid, 1000), frame.ErrFrameTooLarge}, {bad, frame.ErrEncode}, {log(rid, 2), nil},
		{&frame.Frame{Type: frame.TypeLog, ID: frame.Number(1 << 63)}, frame.ErrEncode},
	} {
		if err := o.Send(c.frame); !errors.Is(err, c.want) {
			t.Errorf("Send = %v, want %v", err, c.want)
		}
	}
	o.SetMaxFrame(0)
	if err := o.Send(log(rid, 1000)); err != nil {
		t.Errorf("Send with the usual limit = %v", err)
	}
	if err := o.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	frames := readAll(t, &link.got)
	for i, size := range []int{1, 2, 1000} {
		if f := frames[i]; f.Seq != uint64(i) || len(f.Payload) != size {
			t.Errorf("frame %d: number %d, %d bytes, want %d bytes", i, f.Seq, len(f.Payload), size)
		}
	}
}

func TestFramesAfterTheEndOfTheirFlowAreNotWritten(t *testing.T) {
	link := newMoodyLink(1, -1)
	var late []frame.Type
	o := outbox.New(link, &outbox.Options{Number: true, RememberEnded: 1, Stragglers: func(t frame.Type) { late = append(late, t) }})
	rid, other := frame.Number(1), frame.Number(2)
	for _, f := range []frame.Frame{
		{Type: frame.TypeReq, ID: rid}, {Type: frame.TypeEnd, ID: rid}, {Type: frame.TypeLog, ID: rid}, {Type: frame.TypeErr, ID: rid},
		frame.NewCredit(rid, nil, 1, frame.RequestDirection),
		{Type: frame.TypeLog, ID: rid, RoutingID: rid}, // another flow
		{Type: frame.TypeReq, ID: rid}, {Type: frame.TypeLog, ID: rid}, {Type: frame.TypeErr, ID: rid},
		{Type: frame.TypeEnd, ID: other}, {Type: frame.TypeLog, ID: rid}, // forgotten for the other
	} {
		if err := o.Send(&f); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"req 1  number 0, 0 bytes ", "end 1  number 1, 0 bytes ", "credit 1  number 0, 0 bytes ", "log 1 1 number 0, 0 bytes ",
		"req 1  number 0, 0 bytes ", "log 1  number 1, 0 bytes ", "err 1  number 2, 0 bytes ", "end 2  number 0, 0 bytes ", "log 1  number 0, 0 bytes ",
	}
	for i, f := range readAll(t, &link.got) {
		if got := describe(f); i >= len(want) || got != want[i] {
			t.Errorf("frame %d: %s", i, got)
		}
	}
	if len(late) != 2 || late[0] != frame.TypeLog || late[1] != frame.TypeErr {
		t.Errorf("stragglers %v, want log and err", late)
	}
}

func TestACorkedOutboxHoldsEverything(t *testing.T) {
	overEach(t, func(t *testing.T, near, far relaytest.Conn) {
		o := outbox.New(nil, &outbox.Options{Number: true, Corked: true, MaxQueued: 1000})
		rid := frame.NewUUID()
		for range 10 {
			if err := o.Send(log(rid, 20_000)); err != nil {
				t.Fatal(err)
			}
		}
		o.Flush()
		if !o.Full() || o.Queued() < 200_000 {
			t.Errorf("Full = %v, Queued = %d", o.Full(), o.Queued())
		}
		go o.Uncork(near)
		in := frame.NewReader(far, nil)
		for want := range uint64(10) {
			f, err := in.Next()
			if err != nil {
				t.Fatal(err)
			}
			if f.Seq != want || len(f.Payload) != 20_000 {
				t.Errorf("Next = number %d, %d bytes, want number %d", f.Seq, len(f.Payload), want)
			}
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestFinishWaitsForUncork(t *testing.T) {
	inMemory(t, func(t *testing.T, near, far relaytest.Conn) {
		o := outbox.New(nil, &outbox.Options{Corked: true})
		if err := o.Send(log(frame.Number(1), 20_000)); err != nil {
			t.Fatal(err)
		}
		finished := make(chan error, 1)
		go func() { finished <- o.Finish(context.Background()) }()
		synctest.Wait()
		if len(finished) > 0 {
			t.Fatalf("Finish = %v before Uncork", <-finished)
		}
		go o.Uncork(near)
		if n := len(readAll(t, far)); n != 1 {
			t.Errorf("%d frames, want 1", n)
		}
		if err := <-finished; err != nil {
			t.Errorf("Finish = %v", err)
		}
	})
}

func TestUncorkingADeadOutboxClosesTheLink(t *testing.T) {
	o := outbox.New(nil, &outbox.Options{Corked: true})
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	link := newMoodyLink(1, -1)
	o.Uncork(link)
	if _, closed := link.taken(); !closed {
		t.Error("the link is open")
	}
	if err := o.Send(log(frame.Number(1), 0)); err != outbox.ErrClosed {
		t.Errorf("Send = %v, want %v", err, outbox.ErrClosed)
	}
}

func TestAfterFinishNothingIsTaken(t *testing.T) {
	link := newMoodyLink(1, -1)
	o := outbox.New(link, nil)
	for range 2 {
		if err := o.Finish(t.Context()); err != nil {
			t.Errorf("Finish = %v", err)
		}
	}
	if err := o.Send(log(frame.Number(1), 0)); err != outbox.ErrClosed {
		t.Errorf("Send = %v, want %v", err, outbox.ErrClosed)
	}
	o.Flush()
	if err := o.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if wire, closed := link.taken(); len(wire) != 0 || !closed {
		t.Errorf("the link took % x, closed once: %v", wire, closed)
	}
}

func TestFinishAfterCloseSaysThatNotAllWasWritten(t *testing.T) {
	o := outbox.New(newMoodyLink(1, -1), nil)
	if err := o.Send(log(frame.Number(1), 0)); err != nil {
		t.Fatal(err)
	}
	o.Close()
	if err := o.Finish(t.Context()); err != outbox.ErrClosed {
		t.Errorf("Finish = %v, want %v", err, outbox.ErrClosed)
	}
	if n := o.Queued(); n != 0 {
		t.Errorf("Queued = %d after Close", n)
	}
}

// A busyLink is given more to write each time that it is written to.
type busyLink struct {
	discard
	o     *outbox.Outbox
	left  int
	done  chan struct{} // closed when nothing is left
	tries int
}

func (l *busyLink) TryWrite(p []byte) (int, error) {
	l.tries++
	return l.Write(p)
}

func (l *busyLink) Write(p []byte) (int, error) {
	if l.left--; l.left > 0 {
		return len(p), l.o.Send(log(frame.Number(1), 10))
	}
	close(l.done)
	return len(p), nil
}

// Whoever flushes is not kept by what others go on to send.
func TestFlushReturnsWhileOthersSend(t *testing.T) {
	l := &busyLink{left: 1000, done: make(chan struct{})}
	l.o = outbox.New(l, nil)
	if err := l.o.Send(log(frame.Number(1), 10)); err != nil {
		t.Fatal(err)
	}
	l.o.Flush()
	<-l.done
	if err := l.o.Finish(t.Context()); err != nil {
		t.Error(err)
	}
	if l.tries > 20 {
		t.Errorf("the caller of Flush wrote %d times", l.tries)
	}
}

package flow

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"

	"github.com/cosim-go/cosim/relay/frame"
)

var (
	errEnded     = errors.New("ended")
	errFailed    = errors.New("failed")
	errCancelled = errors.New("cancelled")
)

// An endPoint reads frames from a connection and lets go whoever they concern.
type endPoint struct {
	gates *Gates
	out   *frame.Writer // to the end point
	conn  net.Conn      // its far end
}

// startEndPoint starts an end point that sends responses. It ends with the connection.
func startEndPoint() *endPoint {
	near, far := net.Pipe()
	e := &endPoint{gates: NewGates(frame.ResponseDirection), out: frame.NewWriter(far, nil), conn: far}
	go func() {
		defer near.Close()
		for in := frame.NewReader(near, nil); ; {
			f, err := in.Next()
			if err != nil {
				e.gates.CloseAll(err)
				return
			}
			e.take(f)
		}
	}()
	return e
}

func (e *endPoint) take(f *frame.Frame) {
	switch f.Type {
	case frame.TypeCredit:
		e.gates.Grant(f)
	case frame.TypeEnd:
		e.gates.CloseRequest(f.ID, errEnded)
	case frame.TypeErr:
		e.gates.CloseRequest(f.ID, errFailed)
	case frame.TypeCancel:
		e.gates.CloseRequest(f.ID, errCancelled)
	}
}

func (e *endPoint) send(t *testing.T, f frame.Frame) {
	t.Helper()
	if err := e.out.Write(&f); err != nil {
		t.Fatal(err)
	}
	if err := e.out.Flush(); err != nil {
		t.Fatal(err)
	}
}

// blocked runs a test with a sender that has used up its credit. What the sender's Acquire
// returns comes from the channel. Another sender goes on waiting until the connection ends.
func blocked(t *testing.T, want error, unblock func(t *testing.T, e *endPoint, rid frame.ID, cancel context.CancelCauseFunc)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := startEndPoint()
		rid := frame.NewUUID()
		ctx, cancel := context.WithCancelCause(t.Context())
		gate := e.gates.Open(rid, "out", 1)
		if err := gate.Acquire(ctx, 1); err != nil {
			t.Fatal(err)
		}
		got := waiting(t, ctx, gate, 1)
		other := waiting(t, t.Context(), e.gates.Open(frame.NewUUID(), "out", 0), 1)
		unblock(t, e, rid, cancel)
		if err := <-got; err != want {
			t.Errorf("Acquire = %v, want %v", err, want)
		}
		e.conn.Close()
		if err := <-other; want != nil && err != io.EOF {
			t.Errorf("Acquire of the other sender = %v, want %v", err, io.EOF)
		}
		cancel(nil)
	})
}

func TestABlockedSenderGoesOnWithACredit(t *testing.T) {
	blocked(t, nil, func(t *testing.T, e *endPoint, rid frame.ID, _ context.CancelCauseFunc) {
		e.send(t, frame.NewCredit(rid, []byte("out"), 1, frame.ResponseDirection))
	})
}

func TestABlockedSenderEndsWithTheEndOfItsRequest(t *testing.T) {
	blocked(t, errEnded, func(t *testing.T, e *endPoint, rid frame.ID, _ context.CancelCauseFunc) {
		e.send(t, frame.Frame{Type: frame.TypeEnd, ID: rid})
	})
}

func TestABlockedSenderEndsWithAnErr(t *testing.T) {
	blocked(t, errFailed, func(t *testing.T, e *endPoint, rid frame.ID, _ context.CancelCauseFunc) {
		e.send(t, frame.Frame{Type: frame.TypeErr, ID: rid})
	})
}

func TestABlockedSenderEndsWithACancel(t *testing.T) {
	blocked(t, errCancelled, func(t *testing.T, e *endPoint, rid frame.ID, _ context.CancelCauseFunc) {
		e.send(t, frame.Frame{Type: frame.TypeCancel, ID: rid})
	})
}

func TestABlockedSenderEndsWithTheConnection(t *testing.T) {
	blocked(t, io.EOF, func(_ *testing.T, e *endPoint, _ frame.ID, _ context.CancelCauseFunc) {
		e.conn.Close()
	})
}

func TestABlockedSenderEndsWithItsStream(t *testing.T) {
	blocked(t, ErrClosed, func(_ *testing.T, e *endPoint, rid frame.ID, _ context.CancelCauseFunc) {
		e.gates.CloseStream(rid, "out", nil)
	})
}

func TestABlockedSenderEndsWithItsContext(t *testing.T) {
	cause := errors.New("cause")
	blocked(t, cause, func(_ *testing.T, _ *endPoint, _ frame.ID, cancel context.CancelCauseFunc) {
		cancel(cause)
	})
}

// A sender that opens its next stream just after its request was cancelled has no gate that the
// cancel could close; its context ends it.
func TestASenderThatOpensAStreamTooLateEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gates := NewGates(frame.ResponseDirection)
		rid := frame.NewUUID()
		ctx, cancel := context.WithCancelCause(t.Context())
		gates.CloseRequest(rid, errCancelled)
		cancel(errCancelled)
		gate := gates.Open(rid, "out", 32)
		if err := gate.Acquire(ctx, 1); err != errCancelled {
			t.Errorf("Acquire = %v, want %v", err, errCancelled)
		}
	})
}

package flow

import (
	"errors"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func credit(rid frame.ID, streamID string, n uint64, d frame.Direction) *frame.Frame {
	f := frame.NewCredit(rid, []byte(streamID), n, d)
	return &f
}

func TestGrantFindsTheStream(t *testing.T) {
	one, two, other := frame.NewUUID(), frame.NewUUID(), frame.Number(1)
	request, response := frame.RequestDirection, frame.ResponseDirection
	anyStream := func(rid frame.ID, d frame.Direction) *frame.Frame {
		f := frame.NewCredit(rid, nil, 5, d)
		return &f
	}
	chunk := credit(one, "a", 5, response)
	chunk.Type = frame.TypeChunk
	tests := []struct {
		name string
		f    *frame.Frame
		want string // the stream that gets it
	}{
		{"by request and stream", credit(one, "a", 5, response), "one a"},
		{"the other stream", credit(one, "", 5, response), "one empty"},
		{"the other request", credit(two, "a", 5, response), "two a"},
		{"no stream where there is one", anyStream(two, response), "two a"},
		{"no stream where there are two", anyStream(one, response), ""},
		{"no stream of an unknown request", anyStream(other, response), ""},
		{"an unknown stream where there is one", credit(two, "b", 5, response), ""},
		{"an unknown request", credit(other, "a", 5, response), ""},
		{"the other direction", credit(one, "a", 5, request), ""},
		{"no direction", credit(one, "a", 5, frame.NoDirection), ""},
		{"no direction and no stream", anyStream(two, frame.NoDirection), ""},
		{"no CREDIT", chunk, ""},
		{"no credit", &frame.Frame{Type: frame.TypeCredit, ID: one, StreamID: []byte("a"), Meta: chunk.Meta}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			gates := NewGates(response)
			open := map[string]*Gate{
				"one a": gates.Open(one, "a", 1), "one empty": gates.Open(one, "", 1), "two a": gates.Open(two, "a", 1),
			}
			if got := gates.Grant(test.f); got != (test.want != "") {
				t.Errorf("Grant = %t", got)
			}
			for name, gate := range open {
				want := uint64(1)
				if name == test.want {
					want = 6
				}
				if got := gate.Available(); got != want {
					t.Errorf("%s: Available() = %d, want %d", name, got, want)
				}
			}
		})
	}
}

func TestGatesWithoutDirectionGrantNothing(t *testing.T) {
	gates := NewGates(frame.NoDirection)
	gates.Open(frame.Number(1), "a", 0)
	if gates.Grant(credit(frame.Number(1), "a", 1, frame.NoDirection)) {
		t.Error("Grant = true for a frame without direction")
	}
}

func TestTheOnlyStreamIsTheOneThatIsLeft(t *testing.T) {
	gates := NewGates(frame.RequestDirection)
	rid := frame.Number(7)
	a, b := gates.Open(rid, "a", 0), gates.Open(rid, "b", 0)
	f := frame.NewCredit(rid, nil, 5, frame.RequestDirection)
	if gates.Grant(&f) {
		t.Error("Grant = true with two streams")
	}
	gates.CloseStream(rid, "a", nil)
	gates.CloseStream(rid, "a", nil) // unknown now
	if !gates.Grant(&f) || b.Available() != 5 || a.Available() != 0 {
		t.Errorf("a has %d, b has %d, want 0 and 5", a.Available(), b.Available())
	}
	gates.CloseStream(rid, "b", nil)
	if gates.Grant(&f) || gates.Len() != 0 || len(gates.requests) != 0 {
		t.Errorf("Grant after the last stream; %d gates, %d requests left", gates.Len(), len(gates.requests))
	}
}

func TestClosingReachesTheRightStreams(t *testing.T) {
	gates := NewGates(frame.ResponseDirection)
	one, two, three := frame.Number(1), frame.Number(2), frame.Number(3)
	a, b := gates.Open(one, "a", 1), gates.Open(one, "b", 1)
	c, d := gates.Open(two, "a", 1), gates.Open(three, "a", 1)
	errStream, errRequest, errAll := errors.New("stream"), errors.New("request"), errors.New("all")

	gates.CloseStream(one, "a", errStream)
	expect(t, a, errStream)
	expect(t, b, nil)
	gates.CloseRequest(two, errRequest)
	gates.CloseRequest(two, errAll) // unknown now
	expect(t, c, errRequest)
	expect(t, b, nil)
	if n := gates.Len(); n != 2 {
		t.Errorf("Len() = %d, want 2", n)
	}
	gates.CloseAll(errAll)
	gates.CloseAll(errRequest)
	expect(t, a, errStream)
	expect(t, b, errAll)
	expect(t, d, errAll)
	expect(t, gates.Open(one, "late", 1), errAll)
	if n := gates.Len(); n != 0 {
		t.Errorf("Len() = %d, want 0", n)
	}
	gates = NewGates(frame.ResponseDirection)
	gates.CloseAll(nil)
	expect(t, gates.Open(one, "late", 1), ErrClosed)
}

func TestAStreamThatIsOpenedAgainHasANewGate(t *testing.T) {
	gates := NewGates(frame.ResponseDirection)
	rid := frame.Number(1)
	old, fresh := gates.Open(rid, "a", 1), gates.Open(rid, "a", 1)
	expect(t, old, ErrClosed)
	expect(t, fresh, nil)
	gates.CloseRequest(rid, nil)
	expect(t, fresh, ErrClosed)
	expect(t, gates.Open(rid, "a", 1), nil)
}

// expect fails unless an Acquire of nothing returns an error.
func expect(t *testing.T, g *Gate, want error) {
	t.Helper()
	if err := g.Acquire(t.Context(), 0); err != want {
		t.Errorf("Acquire = %v, want %v", err, want)
	}
}

func TestGrantDoesNotAllocate(t *testing.T) {
	gates := NewGates(frame.ResponseDirection)
	rid := frame.NewUUID()
	gates.Open(rid, "c0ffee00-0000-4000-8000-000000000000", 0)
	exact := credit(rid, "c0ffee00-0000-4000-8000-000000000000", 1, frame.ResponseDirection)
	only := frame.NewCredit(rid, nil, 1, frame.ResponseDirection)
	wrong := credit(rid, "a", 1, frame.ResponseDirection)
	noAllocs(t, "Grant", func() {
		if !gates.Grant(exact) || !gates.Grant(&only) || gates.Grant(wrong) {
			t.Fatal("a grant went wrong")
		}
	})
}

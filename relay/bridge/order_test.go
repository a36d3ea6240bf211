package bridge_test

import (
	"errors"
	"testing"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// Requirements: R2, S2, S3
func TestGapsAreHealedInBothDirections(t *testing.T) {
	in := wire(t, chunk(2, 40), chunk(1, 70<<10), req(0), bodyEnd(5), chunk(4, 1), chunk(3, 33<<10))
	out := wire(t, req(0), chunk(1, 70<<10), chunk(2, 40), chunk(3, 33<<10), chunk(4, 1), bodyEnd(5))
	bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
		go from.Write(in)
		expect(t, to, out)
		from.CloseWrite()
		expectEnd(t, to)
	})
}

// Requirements: S2, S3
func TestFramesAgainstTheirOrderEndTheRelay(t *testing.T) {
	gap := func(from, to uint64) (frames []frame.Frame) {
		for seq := from; seq <= to; seq++ {
			frames = append(frames, chunk(seq, 1))
		}
		return frames
	}
	tests := []struct {
		name    string
		initial *frame.Notify
		in, out []frame.Frame
		want    error
	}{
		{"one that was delivered", nil, []frame.Frame{req(0), chunk(1, 1), chunk(0, 1)}, []frame.Frame{req(0), chunk(1, 1)}, flow.ErrStale},
		{"one that is held already", nil, []frame.Frame{chunk(1, 1), chunk(1, 1)}, nil, flow.ErrDuplicate},
		{"one above the default limit", nil, gap(1, frame.DefaultMaxHeld+1), nil, flow.ErrOverflow},
		{"one above the limit that was announced", ptr(offer("{}")), gap(1, 5), nil, flow.ErrOverflow},
		{"one that is held already at the limit", ptr(offer("{}")), append(gap(1, 4), chunk(2, 1)), nil, flow.ErrDuplicate},
	}
	for _, test := range tests {
		for _, w := range ways {
			t.Run(test.name+" "+w.name, func(t *testing.T) {
				s := start(t, nil, test.initial)
				if test.initial != nil {
					expect(t, s.remote, wire(t, notify(t, "{}")))
				}
				good, bad := test.in[:len(test.in)-1], test.in[len(test.in)-1]
				write(t, w.from(s), wire(t, good...))
				expect(t, w.to(s), wire(t, test.out...))
				write(t, w.from(s), wire(t, bad, frame.NewCredit(rid, nil, 1, frame.RequestDirection)))
				err := s.wait()
				if !errors.Is(err, test.want) || frame.KindOf(err) != frame.ErrProtocol {
					t.Errorf("Run = %v of kind %q, want %v of kind %q", err, frame.KindOf(err), test.want, frame.ErrProtocol)
				}
				expectNothing(t, w.to(s))
			})
		}
	}
}

func ptr[T any](v T) *T { return &v }

// Requirements: S2, S3. As many as may be held are held, and go on once the gap is closed.
func TestAsManyFramesAreHeldAsAnnounced(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			s := start(t, nil, ptr(offer("{}")))
			expect(t, s.remote, wire(t, notify(t, "{}")))
			write(t, w.from(s), wire(t, chunk(4, 1), chunk(3, 2), chunk(2, 3), chunk(1, 4), req(0)))
			expect(t, w.to(s), wire(t, req(0), chunk(1, 4), chunk(2, 3), chunk(3, 2), chunk(4, 1)))
		})
	}
}

// Requirements: R2, S2, S3
func TestControlFramesOvertakeWhatIsHeld(t *testing.T) {
	bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
		write(t, from, wire(t, append([]frame.Frame{chunk(2, 3), chunk(1, 4)}, control(t)...)...))
		expect(t, to, wire(t, control(t)...))
		write(t, from, wire(t, req(0)))
		expect(t, to, wire(t, req(0), chunk(1, 4), chunk(2, 3)))
	})
}

// Requirements: S2, S3
func TestATerminalIsHeldUntilItIsDue(t *testing.T) {
	for _, terminal := range []func(uint64) frame.Frame{bodyEnd, func(seq uint64) frame.Frame { return errFrame(t, seq) }} {
		bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
			credit := frame.NewCredit(rid, nil, 1, frame.RequestDirection)
			write(t, from, wire(t, req(0), terminal(2), credit))
			expect(t, to, wire(t, req(0), credit))
			write(t, from, wire(t, chunk(1, 20)))
			expect(t, to, wire(t, chunk(1, 20), terminal(2)))
			write(t, from, wire(t, req(0), bodyEnd(1)))
			expect(t, to, wire(t, req(0), bodyEnd(1)))
		})
	}
}

// Requirements: S2, S3. A request body and its answer by the same host share a flow: the end of
// the body resets it in the middle.
func TestAFlowThatEndedBeginsAgain(t *testing.T) {
	for _, terminal := range []func(uint64) frame.Frame{bodyEnd, func(seq uint64) frame.Frame { return errFrame(t, seq) }} {
		bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
			for range 3 {
				b := wire(t, req(0), chunk(1, 5), terminal(2))
				write(t, from, b)
				expect(t, to, b)
			}
			write(t, from, wire(t, terminal(0)))
			expect(t, to, wire(t, terminal(0)))
		})
	}
}

func TestRoutingIDsTellFlowsApart(t *testing.T) {
	var all []frame.Frame
	for _, id := range []frame.ID{rid, other, frame.Number(0)} {
		for _, xid := range []frame.ID{{}, frame.Number(0), frame.Number(5), rid} {
			f := frame.NewReq(id, []byte("cap:x"))
			f.RoutingID = xid
			all = append(all, f)
		}
	}
	bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
		write(t, from, wire(t, all...))
		expect(t, to, wire(t, all...))
	})
}

// Both directions number the same request by themselves.
func TestDirectionsDoNotShareOrder(t *testing.T) {
	s := start(t, nil, nil)
	for range 2 {
		for _, part := range [][]byte{wire(t, req(0), chunk(1, 5)), wire(t, bodyEnd(2))} {
			for _, w := range ways {
				write(t, w.from(s), part)
				expect(t, w.to(s), part)
			}
		}
	}
}

package bridge_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// Requirement: PO1
func TestPolicyPassesToTheHostInItsPlace(t *testing.T) {
	s := start(t, nil, ptr(offer("{}")))
	policy := func(payload string) frame.Frame { return frame.NewPolicy([]byte(payload)) }
	write(t, s.remote, wire(t, policy("first"), req(0), chunk(2, 4), policy("second"), chunk(1, 4), policy("third"), bodyEnd(3)))
	expect(t, s.host, wire(t, policy("first"), req(0), policy("second"), chunk(1, 4), chunk(2, 4), policy("third"), bodyEnd(3)))
}

// Requirements: PO2, S3
func TestPolicyFromTheHostEndsTheRelay(t *testing.T) {
	s := start(t, nil, nil)
	write(t, s.host, wire(t, req(0)))
	expect(t, s.remote, wire(t, req(0)))
	write(t, s.host, wire(t, frame.NewPolicy([]byte("mine")), chunk(1, 4)))
	if err := s.wait(); frame.KindOf(err) != frame.ErrProtocol {
		t.Errorf("Run = %v of kind %q, want kind %q", err, frame.KindOf(err), frame.ErrProtocol)
	}
	expectNothing(t, s.remote)
	expectNothing(t, s.host)
}

// Requirement: PO2
func TestPolicyFromTheSlaveEndsTheMaster(t *testing.T) {
	m, far := connect(t, nil)
	write(t, far, wire(t, req(0), frame.NewRelayState(nil), frame.NewPolicy([]byte("mine")), chunk(1, 4)))
	expectFrame(t, m, req(0))
	for range 2 {
		if f, err := m.ReadFrame(); frame.KindOf(err) != frame.ErrProtocol {
			t.Errorf("ReadFrame = %v, %v, want kind %q", f, err, frame.ErrProtocol)
		}
	}
	if n := m.Stats(); n.Frames != 1 || n.Dropped != 1 {
		t.Errorf("Stats = %+v, want a frame and one dropped before the policy", n)
	}
	expectNothing(t, far)
}

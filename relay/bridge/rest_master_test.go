package bridge_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// calmMaster runs a test of a master.
func calmMaster(t *testing.T, o *bridge.MasterOptions, test func(t *testing.T, m *bridge.Master, far *farEnd)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		link, far := relaytest.BufferedPipe(64 << 10)
		end := listen(far)
		write(t, far, wire(t, notify(t, "{}")))
		m, err := bridge.Connect(t.Context(), link, o)
		if err != nil {
			t.Fatal(err)
		}
		test(t, m, end)
		m.Close()
		far.Close()
	})
}

// Requirements: M3, ST1, PO1
func TestSendReturnsWhenTheFrameIsOnTheStream(t *testing.T) {
	calmMaster(t, nil, func(t *testing.T, m *bridge.Master, far *farEnd) {
		var b frame.MetaBuilder
		b.Text("by", "engine")
		meta, _ := b.Meta()
		policy := frame.NewPolicy([]byte("p"))
		policy.Meta = meta
		for _, err := range []error{m.Send(ptr(req(3))), m.SendState([]byte("s")), m.SendPolicy(meta, []byte("p"))} {
			if err != nil {
				t.Error(err)
			}
		}
		far.hears(t, "from the master", false, req(3), frame.NewRelayState([]byte("s")), policy)
	})
}

// Requirements: M3, PO2. What ends the master ends the link.
func TestWhatEndsAMasterClosesItsLink(t *testing.T) {
	for _, bad := range [][]byte{
		wire(t, frame.NewPolicy(nil)), wire(t, req(0), req(0)), prefixed([]byte{0xa0}), {0xff, 0xff, 0xff, 0xff},
	} {
		calmMaster(t, nil, func(t *testing.T, m *bridge.Master, far *farEnd) {
			write(t, far, append(bad, wire(t, chunk(1, 1))...))
			for range 2 {
				if f, err := m.ReadFrame(); err != nil {
					break
				} else if f.Type != frame.TypeReq {
					t.Errorf("ReadFrame = %v", describeFrame(f))
				}
			}
			far.hears(t, "from the master", true)
			if f, err := m.ReadFrame(); err == nil {
				t.Errorf("ReadFrame after an error = %v", describeFrame(f))
			}
		})
	}
}

// Requirement: M1
func TestConnectThatFailsClosesItsLink(t *testing.T) {
	for name, first := range map[string][]byte{
		"a request":   wire(t, req(0)),
		"a policy":    wire(t, frame.NewPolicy(nil)),
		"no manifest": wire(t, notifyWith(t, map[string]any{"manifest": nil})),
		"a limit":     wire(t, notifyWith(t, map[string]any{"max_chunk": 0})),
		"no frame":    prefixed([]byte{0xa0}),
	} {
		synctest.Test(t, func(t *testing.T) {
			link, far := relaytest.BufferedPipe(1 << 10)
			end := listen(far)
			write(t, far, first)
			if _, err := bridge.Connect(t.Context(), link, nil); err == nil {
				t.Errorf("Connect = nil after %s", name)
			}
			end.hears(t, name, true)
			link.Close()
			far.Close()
		})
	}
}

// Requirement: M3
func TestAMasterHoldsAsMuchAsTheFirstNotifySays(t *testing.T) {
	calmMaster(t, nil, func(t *testing.T, m *bridge.Master, far *farEnd) {
		write(t, far, wire(t, chunk(4, 1), chunk(3, 1), chunk(2, 1), chunk(1, 1), req(0)))
		for _, want := range []frame.Frame{req(0), chunk(1, 1), chunk(2, 1), chunk(3, 1), chunk(4, 1)} {
			expectFrame(t, m, want)
		}
		write(t, far, wire(t, chunk(10, 1), chunk(9, 1), chunk(8, 1), chunk(7, 1), chunk(6, 1)))
		far.CloseWrite()
		if f, err := m.ReadFrame(); !errors.Is(err, flow.ErrOverflow) {
			t.Errorf("ReadFrame = %v, %v, want %v", f, err, flow.ErrOverflow)
		}
	})
}

// Requirement: M2. A manifest that was asked for never changes, whatever comes later.
func TestAManifestThatWasAskedForNeverChanges(t *testing.T) {
	calmMaster(t, nil, func(t *testing.T, m *bridge.Master, far *farEnd) {
		var asked [][]byte
		for i, manifest := range []string{"first", "other"} {
			write(t, far, wire(t, notify(t, manifest), numbered(req(0), uint64(i))))
			if _, err := m.ReadFrame(); err != nil {
				t.Fatal(err)
			}
			asked = append(asked, m.Manifest())
		}
		if string(asked[0]) != "first" || string(asked[1]) != "other" {
			t.Errorf("Manifest = %q, want first and other", asked)
		}
	})
}

func TestALimitOfTheMasterHoldsForWhatItReads(t *testing.T) {
	calmMaster(t, &bridge.MasterOptions{MaxFrame: 500}, func(t *testing.T, m *bridge.Master, far *farEnd) {
		write(t, far, wire(t, chunk(0, 500)))
		if f, err := m.ReadFrame(); frame.KindOf(err) != frame.ErrFrameTooLarge {
			t.Errorf("ReadFrame = %v, %v, want kind %q", f, err, frame.ErrFrameTooLarge)
		}
		far.hears(t, "from the master", true)
	})
}

// The reader that a master hands out goes on where the master stopped.
//
// Requirement: M1
func TestAMastersReaderLeavesNothingOut(t *testing.T) {
	calmMaster(t, nil, func(t *testing.T, m *bridge.Master, far *farEnd) {
		write(t, far, wire(t, req(0), chunk(1, 1)))
		far.CloseWrite()
		for _, want := range []frame.Type{frame.TypeReq, frame.TypeChunk} {
			if f, err := m.Reader().Next(); err != nil || f.Type != want {
				t.Errorf("Next = %v, %v, want a %v", f, err, want)
			}
		}
	})
}

package route_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// The host of the published Python package gives no routing id to an ERR that it makes itself, such as
// CARTRIDGE_DIED, and the number 0.
//
// Requirement: C3
func TestAnErrWithoutRoutingIDFromTheServingHost(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a, b := join(t, s, "a", identity, echoCap), join(t, s, "b", identity, hashCap)
	died := func(id frame.ID) frame.Frame {
		f, err := frame.NewErr(id, frame.ErrInfo{
			Code: []byte("CARTRIDGE_DIED"), Attribution: frame.AttributionEnvironment, Message: []byte("gone"),
		})
		require.NoError(t, err)
		return f
	}

	l, req := open(t, s, b, "cap:hash")
	b.send(died(req.ID))
	require.Equal(t, "CARTRIDGE_DIED/environment", code(t, next(t, l, frame.TypeErr)))
	over(t, l)
	b.expect(frame.TypeEnd) // of the body, which goes nowhere now

	// For a peer call it gets the routing id on the way; from its own host it is the end of the body as ever.
	call := a.peer("cap:hash", frame.ID{})
	got := b.expect(frame.TypeReq)
	a.send(died(call.ID))
	require.Equal(t, got.RoutingID, b.expect(frame.TypeErr).RoutingID)
	b.send(died(call.ID))
	answer := a.expect(frame.TypeErr)
	require.Equal(t, got.RoutingID, answer.RoutingID)
	require.Equal(t, "CARTRIDGE_DIED/environment", code(t, answer))
	require.Empty(t, s.Stats().Requests.Active)
	require.Zero(t, s.Stats().Drops.Total)
}

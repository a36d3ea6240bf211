package route_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

// A slowToClose is a link that goes on for a while when it is closed.
type slowToClose struct {
	io.ReadWriteCloser
}

func (slowToClose) Close() error { return nil }

// The moment between the failure of a write and the death of the master.
func TestAMasterThatCannotBeWrittenTo(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	near, far := sockets(t)
	a := joinOver(t, s, "a", slowToClose{near}, far, func(h *host) { h.hello(identity, echoCap) })
	b := join(t, s, "b", identity, hashCap)
	c, _ := open(t, s, a, "cap:echo")
	_, registered, err := s.Register(t.Context(), frame.NewUUID(), "cap:echo", "")
	require.NoError(t, err)
	defer registered.Close()
	plain := frame.NewReq(frame.NewUUID(), []byte("cap:echo"))
	require.NoError(t, s.Send(t.Context(), &plain, ""))
	a.expect(frame.TypeReq)
	peer := b.peer("cap:echo", frame.ID{})
	a.expect(frame.TypeReq)
	route.CloseOutbox(s, "a")

	_, err = s.Open(context.Background(), call.Request{Cap: "cap:echo"})
	require.ErrorIs(t, err, route.ErrMasterDied)
	require.ErrorIs(t, err, &call.Error{Code: "MASTER_DIED"})
	req := frame.NewReq(registered.ID(), []byte("cap:echo"))
	require.ErrorIs(t, registered.Send(t.Context(), &req), call.ErrEnded)
	require.Equal(t, "MASTER_DIED/environment", code(t, next(t, registered, frame.TypeErr)))
	require.Equal(t, map[stats.Kind]uint64{stats.KindMasterDied: 2}, kinds(s))
	end := frame.NewBodyEnd(frame.ID{})
	require.ErrorIs(t, c.Send(t.Context(), &end), call.ErrEnded)
	end.ID, end.RoutingID = plain.ID, frame.ID{}
	require.ErrorIs(t, s.Send(t.Context(), &end, ""), route.ErrMasterDied)
	b.send(frame.NewBodyEnd(peer.ID))
	b.settle()
	require.EqualValues(t, 1, s.Stats().Drops.ByReason[stats.MasterDied])

	near.Close()
	require.Equal(t, "MASTER_DIED/environment", code(t, next(t, c, frame.TypeErr)))
	require.Equal(t, "MASTER_DIED/environment", code(t, b.expect(frame.TypeErr)))
	require.Equal(t, map[stats.Kind]uint64{stats.KindMasterDied: 5}, kinds(s))
}

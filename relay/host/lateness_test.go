package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
)

// The response to a peer call may end before its body, of which no more comes then: nothing is kept of that either.
func TestPeerCallThatEndsBeforeItsBodyLeavesNothing(t *testing.T) {
	r := startRig(t, nil, "demo")
	q := r.req(capOf("call-leave"), meta("peer", "cap:elsewhere")).body("x")
	peer := r.newReq()
	end, err := frame.NewErr(peer.ID, frame.ErrInfo{Code: []byte("REFUSED"), Attribution: frame.AttributionInput, Message: []byte("no")})
	require.NoError(t, err)
	end.RoutingID = frame.Number(1 << 40)
	r.send(&end)
	q.err("REFUSED", frame.AttributionInput)
	r.idle()
}

// The same, where the handler is of this host too: the switch ends the body that does not.
func TestSelfLoopThatEndsBeforeItsBodyLeavesNothing(t *testing.T) {
	r := startRig(t, nil, "demo", "good")
	q := r.req(capOf("call-leave")+";of=demo", meta("peer", capOf("early")+";of=good")).body("x")
	peer := r.newReq()
	xid := frame.Number(1 << 40)
	peer.RoutingID = xid
	r.send(peer)
	for _, want := range []frame.Type{frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd} {
		r.send(r.next(peer.ID, want))
	}
	body := frame.NewBodyEnd(peer.ID)
	body.RoutingID = xid
	r.send(&body)
	q.end()
	r.idle()
}

// No frame follows the end of its flow to the switch: what a cartridge still sends is late.
func TestFramesAfterTheEndOfAResponseAreLate(t *testing.T) {
	r := startRig(t, nil, "demo")
	before := r.req(capOf("two-ends")) // whose body ends later
	before.end()
	r.echoes("demo")
	require.Equal(t, map[string]uint64{"log": 1, "end": 1}, r.h.Stats().Stragglers.ByFrameType)
	before.body("x") // which is echoed, when the request is forgotten
	r.echoes("demo")
	r.idle()
	require.Equal(t, map[string]uint64{"stream_start": 1, "chunk": 1, "stream_end": 1, "log": 1, "end": 2}, r.h.Stats().Stragglers.ByFrameType)
	require.Zero(t, r.h.Stats().Drops.Total)
	for _, f := range r.frames {
		require.NotEqual(t, before.RID, f.ID, "%v after the end", f.Type)
	}
}

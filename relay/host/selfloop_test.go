package host

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
)

// loopBack is a switch for a peer call whose handler is on the same host: all frames of it come back in their order, with a
// routing id, until both of its ends have.
func (r *rig) loopBack() req {
	r.t.Helper()
	peer := r.newReq()
	r.xid++
	q := req{Key: peer1(peer, r.xid), r: r}
	peer.RoutingID = q.XID
	r.send(peer)
	for ends := 0; ends < 2; {
		f := r.next(q.RID, frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd, frame.TypeErr, frame.TypeLog, frame.TypeCredit)
		if f.Type.Terminal() {
			ends++
		}
		f.RoutingID = q.XID
		r.send(f)
	}
	return q
}

// A peer call whose handler is on the same host shares its ids with its response.
func TestSelfLoop(t *testing.T) {
	for _, handler := range []string{"demo", "good"} {
		t.Run("handled by "+handler, func(t *testing.T) {
			r := startRig(t, nil, "demo", "good")
			q := r.req(capOf("call")+";of=demo", meta("peer", capOf("echo")+";of="+handler))
			r.loopBack()
			require.Equal(t, "from demo", string(r.next(q.RID, frame.TypeChunk).Payload))
			q.end()
			q.body("x") // of the outer request
			r.idle()
			require.Zero(t, r.h.Stats().Drops.Total)
			require.Zero(t, r.h.Stats().Stragglers.Total)
		})
	}
}

// The handler answers before the body has ended: the response goes to the requester and the rest of the body to the
// handler.
func TestSelfLoopWithEarlyAnswer(t *testing.T) {
	for _, do := range []string{"call", "call-open"} {
		for _, handler := range []string{"demo", "good"} {
			t.Run(do+" handled by "+handler, func(t *testing.T) {
				var log stderrLines
				r := startRig(t, &Options{Logger: log.logger()}, "demo", "good")
				q := r.req(capOf(do)+";of=demo", meta("peer", capOf("early")+";of="+handler))
				r.loopBack()
				require.Equal(t, "early", string(r.next(q.RID, frame.TypeChunk).Payload))
				q.end()
				q.body("x")
				r.idle()
				log.await(t, "the body had 4 frames")
				require.Zero(t, r.h.Stats().Drops.Total)
				require.Zero(t, r.h.Stats().Stragglers.Total)
			})
		}
	}
}

// Credit finds its way by its direction alone, also when the body has ended.
func TestSelfLoopCredit(t *testing.T) {
	t.Run("in the body", func(t *testing.T) { testSelfLoopCredit(t, "call-open") })
	t.Run("after the body", func(t *testing.T) {
		testSelfLoopCredit(t, "call", frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd)
	})
}

func testSelfLoopCredit(t *testing.T, do string, body ...frame.Type) {
	r := startRig(t, nil, "demo", "good")
	r.req(capOf(do)+";of=demo", meta("peer", capOf("never")+";of=good"))
	q := r.loopREQ()
	for _, want := range body {
		f := r.next(q.RID, want)
		f.RoutingID = q.XID
		r.send(f)
	}
	for _, d := range []frame.Direction{frame.RequestDirection, frame.ResponseDirection} {
		f := frame.NewCredit(q.RID, []byte("arg0"), 1, d)
		f.RoutingID = q.XID
		r.send(&f)
	}
	tell := func(name string) string {
		q := r.req(capOf("tell") + ";of=" + name).body("")
		return string(r.next(q.RID, frame.TypeChunk).Payload)
	}
	require.Contains(t, tell("demo"), "credit request")
	require.NotContains(t, tell("demo"), "credit response")
	require.Contains(t, tell("good"), "credit response")
	require.NotContains(t, tell("good"), "credit request")
}

// loopREQ sends the REQ of a peer call back, whose handler is on the same host.
func (r *rig) loopREQ() req {
	r.t.Helper()
	peer := r.newReq()
	r.xid++
	q := req{Key: peer1(peer, r.xid), r: r}
	peer.RoutingID = q.XID
	r.send(peer)
	return q
}

// A cartridge that asks itself and dies: its request is answered once, though it is in both tables.
func TestSelfLoopThatDiesIsAnsweredOnce(t *testing.T) {
	r := startRig(t, nil, "demo")
	outer := r.req(capOf("call-open")+";of=demo", meta("peer", capOf("never")+";of=demo"))
	q := r.loopREQ()
	r.req(capOf("die")+";of=demo").err(codeDied, frame.AttributionEnvironment)
	outer.err(codeDied, frame.AttributionEnvironment)
	require.Equal(t, q.XID, q.err(codeDied, frame.AttributionEnvironment).RoutingID)
	r.echoes("demo") // all that the death has caused has come
	for _, f := range r.frames {
		require.False(t, f.ID == q.RID && f.Type == frame.TypeErr, "a second ERR, with routing id %v", f.RoutingID)
	}
	r.idle()
}

// The requester dies: what comes back of the response goes to nobody, and the handler sees the end of its body.
func TestSelfLoopOutlivesItsRequester(t *testing.T) {
	var log stderrLines
	r := startRig(t, &Options{Logger: log.logger()}, "demo", "good")
	r.req(capOf("call-open")+";of=demo", meta("peer", capOf("early")+";of=good"))
	peer := r.newReq()
	r.xid++
	q := req{Key: peer1(peer, r.xid), r: r}
	peer.RoutingID = q.XID
	r.send(peer)
	back := func(f *frame.Frame) {
		f.RoutingID = q.XID
		r.send(f)
	}
	back(r.next(q.RID, frame.TypeStreamStart)) // arg0
	back(r.next(q.RID, frame.TypeChunk))
	response := []*frame.Frame{r.next(q.RID, frame.TypeStreamStart), r.next(q.RID, frame.TypeChunk), r.next(q.RID, frame.TypeStreamEnd), r.next(q.RID, frame.TypeEnd)}
	r.req(capOf("die")+";of=demo").err(codeDied, frame.AttributionEnvironment)
	died := r.next(q.RID, frame.TypeErr)
	require.True(t, died.RoutingID.IsZero())
	for _, f := range response {
		back(f)
	}
	back(died)
	log.await(t, "the body had 3 frames")
	r.idle()
	require.Zero(t, r.h.Stats().Drops.Total)
	require.Equal(t, uint64(4), r.h.Stats().Stragglers.Total)
}

// A peer call that nobody serves is answered by the switch.
func TestPeerCallWithoutHandler(t *testing.T) {
	r := startRig(t, nil, "demo")
	q := r.req(capOf("call"), meta("peer", "cap:elsewhere")).body("x")
	peer := r.newReq()
	r.next(peer.ID, frame.TypeEnd)
	f, err := frame.NewErr(peer.ID, frame.ErrInfo{Code: []byte(codeNoHandler), Attribution: frame.AttributionEnvironment, Message: []byte("nobody")})
	require.NoError(t, err)
	f.RoutingID = frame.Number(99)
	r.send(&f)
	q.err(codeNoHandler, frame.AttributionEnvironment)
	r.idle()
}

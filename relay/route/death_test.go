package route_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

// Requirements: W3, C5
func TestTheDeathOfAMasterAnswersAllWhoWait(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a, b := join(t, s, "a", identity, echoCap), join(t, s, "b", identity, hashCap)
	engine, onA := open(t, s, a, "cap:echo")
	other, onB := open(t, s, b, "cap:hash")
	peer := b.peer("cap:echo", frame.ID{})
	peerReq := a.expect(frame.TypeReq)
	plain := frame.NewReq(frame.NewUUID(), []byte("cap:echo"))
	require.NoError(t, s.Send(t.Context(), &plain, ""))
	a.expect(frame.TypeReq)

	a.conn.Close()

	// An engine with a channel.
	last := next(t, engine, frame.TypeErr)
	require.Equal(t, "MASTER_DIED/environment", code(t, last))
	require.Equal(t, onA.RoutingID, last.RoutingID)
	info, err := last.ErrInfo()
	require.NoError(t, err)
	require.Contains(t, string(info.Message), `master 0 ("a")`)
	over(t, engine)
	// An engine without one.
	f, err := s.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, "MASTER_DIED/environment", code(t, f))
	require.Equal(t, plain.ID, f.ID)
	require.True(t, f.RoutingID.IsZero())
	// Another master.
	f = b.next()
	require.Equal(t, "MASTER_DIED/environment", code(t, f))
	require.Equal(t, [2]frame.ID{peer.ID, peerReq.RoutingID}, [2]frame.ID{f.ID, f.RoutingID})
	b.nothing(s, "b")

	// Others go on.
	b.end(onB)
	next(t, other, frame.TypeEnd)
	require.Equal(t, map[stats.Kind]uint64{stats.KindMasterDied: 3, stats.KindEnd: 1}, kinds(s))
	health := s.Health()
	require.False(t, health[0].Healthy || health[0].Attached)
	require.NotNil(t, health[0].LastError)
	require.True(t, health[1].Healthy)
	require.Equal(t, []string{identity, canonical(hashCap)}, s.Capabilities())
}

func canonical(urn string) string {
	c, err := manifest.NewCap(urn, "x")
	if err != nil {
		panic(err)
	}
	return c.URN.String()
}

func TestTheDeathOfARequestersMasterCancelsWhatItMade(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a, b := join(t, s, "a", identity, echoCap), join(t, s, "b", identity, hashCap)
	a.peer("cap:hash", frame.ID{})
	req := b.expect(frame.TypeReq)
	a.peer("cap:echo", frame.ID{}) // to itself: nobody is left to tell
	a.expect(frame.TypeReq)
	a.conn.Close()
	f := b.expect(frame.TypeCancel)
	require.Equal(t, [2]frame.ID{req.ID, req.RoutingID}, [2]frame.ID{f.ID, f.RoutingID})
	require.Equal(t, "ABORTED", string(f.CancelReason().Code))
	require.Equal(t, frame.AttributionEnvironment, f.CancelReason().Attribution)
	require.False(t, f.ForceKill.Or(false))
	b.fail(req, "ABORTED")
	b.settle()
	require.Equal(t, map[stats.Kind]uint64{stats.KindMasterDied: 2}, kinds(s))
	require.EqualValues(t, 1, s.Stats().Stragglers.Total)
}

func TestTheDeathOfAnUnhealthyMasterAnswersToo(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, &route.Options{AllowEmptyHosts: true})
	a, b := join(t, s, "a", identity, echoCap), join(t, s, "b", identity, hashCap)
	engine, _ := open(t, s, a, "cap:echo")
	b.peer("cap:echo", frame.ID{})
	a.expect(frame.TypeReq)
	// It loses its caps and gets them back, so that its check is pending.
	a.announce()
	a.announce(identity, echoCap)
	check := a.identify()
	require.False(t, s.Health()[0].Healthy)
	require.True(t, s.Health()[0].Attached)

	a.conn.Close()
	require.Equal(t, "MASTER_DIED/environment", code(t, next(t, engine, frame.TypeErr)))
	require.Equal(t, "MASTER_DIED/environment", code(t, b.next()))
	awaitHealth(t, s, "a", false)
	require.True(t, s.AcceptsAttach("a"))
	again := join(t, s, "a", identity, echoCap)
	again.end(check)
	open(t, s, again, "cap:echo")
}

// What a host must not send ends its master, with that reason.
//
// Requirements: PO2, W3
func TestAViolationIsTheDeathOfItsMasterAlone(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(h *host)
		want string
	}{
		"a policy":         {func(h *host) { h.send(frame.NewPolicy([]byte("x"))) }, "policy"},
		"no frame":         {func(h *host) { h.conn.Write([]byte{0, 0, 0, 2, 0xff, 0xff}) }, ""},
		"half a frame":     {func(h *host) { h.conn.Write([]byte{0, 0, 0, 200, 0xa4}); h.conn.Close() }, "ends"},
		"an endless frame": {func(h *host) { h.conn.Write([]byte{0xff, 0xff, 0xff, 0xff}) }, "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			s := newSwitch(t, nil)
			a, b := join(t, s, "a", identity, echoCap), join(t, s, "b", identity, hashCap)
			c, _ := open(t, s, a, "cap:echo")
			other, onB := open(t, s, b, "cap:hash")
			test.do(a)
			require.Equal(t, "MASTER_DIED/environment", code(t, next(t, c, frame.TypeErr)))
			require.Contains(t, *s.Health()[0].LastError, test.want)
			b.end(onB)
			next(t, other, frame.TypeEnd)
			b.expect(frame.TypeEnd)
			b.nothing(s, "b") // no policy, nothing else
			a.ends()
		})
	}
}

func TestFramesThatHaveNoPlaceOnARelayAreDropped(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	hello, err := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
	require.NoError(t, err)
	beat, err := frame.NewHeartbeat(frame.NewUUID(), frame.Heartbeat{})
	require.NoError(t, err)
	a.send(hello)
	a.send(beat)
	a.send(frame.NewRelayState([]byte("x")))
	a.settle()
	require.Equal(t, map[string]uint64{"hello": 1, "heartbeat": 1, "relay_state": 1}, s.Stats().Drops.ByReasonFrameType[stats.NoRoute])
	open(t, s, a, "cap:echo")
}

// Frames that come late are stragglers, frames of nothing are losses.
func TestLateFramesAreCountedRight(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	var reqs []*frame.Frame
	for range 200 { // more than the ring holds
		_, req := open(t, s, a, "cap:echo")
		reqs = append(reqs, req)
	}
	for _, req := range reqs {
		a.end(req)
		a.expect(frame.TypeEnd)
	}
	for _, req := range reqs {
		a.send(routed(frame.NewCredit(req.ID, nil, 1, frame.RequestDirection), req.RoutingID))
		a.end(req)
	}
	unknown := &frame.Frame{ID: frame.NewUUID(), RoutingID: frame.Number(4711)}
	a.echo(unknown, "x")
	a.send(frame.NewBodyEnd(frame.NewUUID()))
	a.settle()
	got := s.Stats()
	require.Equal(t, map[string]uint64{"credit": 200, "end": 200}, got.Stragglers.ByFrameType)
	require.Equal(t, map[string]uint64{"stream_start": 1, "chunk": 1, "stream_end": 1, "end": 2}, got.Drops.ByReasonFrameType[stats.NoRoute])
	require.Len(t, got.Requests.RecentTerminated, 64)
	require.Equal(t, map[stats.Kind]uint64{stats.KindEnd: 200}, got.Requests.TerminatedByKind)
}

func TestAResponseFromAMasterThatDoesNotServeTheRequestIsDropped(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a, b := join(t, s, "a", identity, echoCap), join(t, s, "b", identity, hashCap)
	c, req := open(t, s, a, "cap:echo")
	b.echo(req, "not mine")
	b.settle()
	require.EqualValues(t, 4, s.Stats().Drops.ByReason[stats.NoRoute])
	// Neither is one of the right master with another routing id.
	a.end(&frame.Frame{ID: req.ID, RoutingID: frame.Number(1 << 40)})
	a.settle()
	require.EqualValues(t, 5, s.Stats().Drops.ByReason[stats.NoRoute])
	a.end(req)
	next(t, c, frame.TypeEnd)
	over(t, c)
}

func TestSendingToADeadMasterFails(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	c, req := open(t, s, a, "cap:echo")
	a.conn.Close()
	next(t, c, frame.TypeErr)
	end := frame.NewBodyEnd(req.ID)
	require.ErrorIs(t, c.Send(t.Context(), &end), call.ErrEnded)
	require.ErrorIs(t, s.Send(t.Context(), &end, ""), route.ErrUnknownRequest)
	require.ErrorIs(t, s.SendState("a", nil), route.ErrUnknownMaster)
}

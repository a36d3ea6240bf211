package route_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/stats"
)

var byUser = call.ErrCancelledByUser.Reason()

// requireCancel asserts that a frame is the CANCEL of a request, by the user.
func requireCancel(t testing.TB, f, req *frame.Frame, force bool) {
	t.Helper()
	require.Equal(t, frame.TypeCancel, f.Type)
	require.Equal(t, [2]frame.ID{req.ID, req.RoutingID}, [2]frame.ID{f.ID, f.RoutingID})
	require.Equal(t, force, f.ForceKill.Or(false))
	require.Equal(t, byUser, f.CancelReason())
}

func TestACancelEndsARequestAtOnce(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	c, req := open(t, s, a, "cap:echo")

	require.True(t, s.Cancel(req.ID, true, byUser))
	require.False(t, s.Cancel(req.ID, true, byUser), "it has ended")
	requireCancel(t, a.next(), req, true)
	last := next(t, c, frame.TypeErr)
	require.Equal(t, "CANCELLED/user", code(t, last))
	over(t, c)
	end := frame.NewBodyEnd(frame.ID{})
	require.ErrorIs(t, c.Send(t.Context(), &end), call.ErrEnded)
	require.NoError(t, c.Cancel(false, byUser))

	// The handler's own end is late.
	a.fail(req, "CANCELLED")
	a.settle()
	got := s.Stats()
	require.Equal(t, map[string]uint64{"err": 1}, got.Stragglers.ByFrameType)
	require.Zero(t, got.Drops.Total)
	require.Equal(t, map[stats.Kind]uint64{stats.KindCancelled: 1}, got.Requests.TerminatedByKind)
	require.Equal(t, []string{"CANCELLED", "user", "Cancelled by user"},
		[]string{got.Requests.RecentTerminated[0].CancelCode, got.Requests.RecentTerminated[0].CancelClass, got.Requests.RecentTerminated[0].CancelReason})
}

func TestTheERRSaysWhyARequestWasCancelled(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	for _, test := range []struct {
		reason frame.CancelReason
		code   string
		text   string
	}{
		{byUser, "CANCELLED/user", "Cancelled by user"},
		{frame.CancelReason{Code: []byte("ABORTED_COLLATERAL"), Attribution: frame.AttributionResource, Message: []byte("step 3")}, "ABORTED_COLLATERAL/resource", "step 3"},
		{frame.CancelReason{Code: []byte("ABORTED"), Attribution: frame.AttributionEnvironment, Message: []byte("low on disk")}, "ABORTED/environment", "low on disk"},
		{frame.CancelReason{}, "CANCELLED/internal", "cancelled"},
		{frame.CancelReason{Code: []byte("X"), Message: []byte("\xff")}, "", ""},
	} {
		c, req := open(t, s, a, "cap:echo")
		require.True(t, s.Cancel(req.ID, false, test.reason))
		f := a.expect(frame.TypeCancel)
		last := next(t, c, frame.TypeErr)
		info, err := last.ErrInfo()
		require.NoError(t, err)
		if test.code == "" { // a reason that no frame can carry still cancels
			continue
		}
		require.Equal(t, test.reason, f.CancelReason())
		require.Equal(t, test.code, code(t, last))
		require.Contains(t, string(info.Message), test.text)
	}
}

func TestACancelReachesTheChildren(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a, b, c := join(t, s, "a", identity, echoCap), join(t, s, "b", identity, hashCap), join(t, s, "c", identity, sortCap)
	root, req := open(t, s, a, "cap:echo")
	child := a.peer("cap:hash", req.ID)
	childReq := b.expect(frame.TypeReq)
	grandchild := b.peer("cap:sort", child.ID)
	grandchildReq := c.expect(frame.TypeReq)
	// One that ended before, one that is nobody's child, and one whose parent somebody else serves.
	ended := a.peer("cap:hash", req.ID)
	a.send(frame.NewBodyEnd(ended.ID))
	endedReq := b.expect(frame.TypeReq)
	b.expect(frame.TypeEnd)
	b.end(endedReq)
	a.expect(frame.TypeEnd)
	a.peer("cap:hash", frame.ID{})
	otherReq := b.expect(frame.TypeReq)
	c.peer("cap:hash", req.ID)
	strangerReq := b.expect(frame.TypeReq)

	active := map[frame.ID]stats.Active{}
	for _, r := range s.Stats().Requests.Active {
		active[r.RID] = r
	}
	require.Equal(t, 2, active[req.ID].Children)
	require.Equal(t, 1, active[child.ID].Children)

	require.True(t, s.Cancel(req.ID, false, byUser))
	requireCancel(t, a.next(), req, false)
	require.Equal(t, "CANCELLED/user", code(t, next(t, root, frame.TypeErr)))
	requireCancel(t, b.next(), childReq, false)
	// The hosts that made the children can release them.
	answer := a.next()
	require.Equal(t, "CANCELLED/user", code(t, answer))
	require.Equal(t, [2]frame.ID{childReq.ID, childReq.RoutingID}, [2]frame.ID{answer.ID, answer.RoutingID})
	requireCancel(t, c.next(), grandchildReq, false)
	answer = b.next()
	require.Equal(t, "CANCELLED/user", code(t, answer))
	require.Equal(t, grandchild.ID, answer.ID)
	require.Equal(t, map[stats.Kind]uint64{stats.KindEnd: 1, stats.KindCancelled: 3}, kinds(s))

	for _, r := range []*frame.Frame{otherReq, strangerReq} {
		b.end(r)
		b.expect(frame.TypeEnd)
	}
	a.expect(frame.TypeEnd)
	c.expect(frame.TypeEnd)
	require.Empty(t, s.Stats().Requests.Active)
}

func TestACancelOfARequestThatIsServedWhereItCameFromKeepsItsNumbers(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, hashCap)
	a.peer("cap:hash", frame.ID{})
	req := a.expect(frame.TypeReq)
	require.True(t, s.Cancel(req.ID, false, byUser))
	requireCancel(t, a.next(), req, false)
	last := a.next() // the host asserts its number
	require.Equal(t, "CANCELLED/user", code(t, last))
	require.EqualValues(t, 1, last.Seq)
}

func TestEverythingOfTheEngineIsCancelled(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a, b := join(t, s, "a", identity, echoCap), join(t, s, "b", identity, hashCap)
	_, first := open(t, s, a, "cap:echo")
	_, second := open(t, s, b, "cap:hash")
	peer := a.peer("cap:hash", frame.ID{})
	b.expect(frame.TypeReq)
	require.Equal(t, []frame.ID{first.ID, second.ID}, s.CancelAll(false, byUser))
	requireCancel(t, a.next(), first, false)
	requireCancel(t, b.next(), second, false)
	active := s.Stats().Requests.Active
	require.Len(t, active, 1)
	require.Equal(t, peer.ID, active[0].RID)
	require.Empty(t, s.CancelAll(false, byUser))
}

func TestACancelFromARequesterGoesToTheHandlerWhoEndsTheRequest(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a, b := join(t, s, "a", identity), join(t, s, "b", identity, hashCap)
	peer := a.peer("cap:hash", frame.ID{})
	req := b.expect(frame.TypeReq)
	cancel, err := frame.NewCancel(peer.ID, true, byUser)
	require.NoError(t, err)
	a.send(cancel)
	requireCancel(t, b.next(), req, true)
	a.send(frame.NewCloseStream(peer.ID, []byte("feed")))
	closed := b.expect(frame.TypeCloseStream)
	require.Equal(t, req.RoutingID, closed.RoutingID)
	require.Equal(t, "feed", string(closed.StreamID))
	require.Len(t, s.Stats().Requests.Active, 1)
	b.fail(req, "CANCELLED")
	require.Equal(t, "CANCELLED/input", code(t, a.next()))
	require.Equal(t, map[stats.Kind]uint64{stats.KindErr: 1}, kinds(s))
	// Of a request that has ended, or never was, nothing happens and nothing counts.
	a.send(cancel)
	a.send(frame.NewCloseStream(frame.NewUUID(), nil))
	a.settle()
	require.Zero(t, s.Stats().Drops.Total+s.Stats().Stragglers.Total)
}

func TestFeedsAreStopped(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	_, req := open(t, s, a, "cap:echo")
	require.True(t, s.StopFeeds(req.ID))
	f := a.expect(frame.TypeCloseStream)
	require.Equal(t, req.RoutingID, f.RoutingID)
	require.Nil(t, f.StreamID)
	require.Len(t, s.Stats().Requests.Active, 1)
	a.end(req)
	a.expect(frame.TypeEnd)
	require.False(t, s.StopFeeds(req.ID))
}

// A caller that goes away while its request runs.
func TestACallThatIsClosedIsCancelledAndItsFramesAreDropped(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	c, req := open(t, s, a, "cap:echo")
	a.send(routed(frame.NewStreamStart(req.ID, []byte("x"), []byte("media:")), req.RoutingID))
	a.send(routed(frame.NewStreamEnd(req.ID, []byte("x"), frame.Some[uint64](0)), req.RoutingID))
	a.settle()
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	reason := a.expect(frame.TypeCancel).CancelReason()
	require.Equal(t, "ABORTED", string(reason.Code))
	require.Equal(t, frame.AttributionInternal, reason.Attribution)
	require.Equal(t, map[string]uint64{"stream_start": 1, "stream_end": 1}, s.Stats().Drops.ByReasonFrameType[stats.ChannelClosed])
	a.end(req)
	a.settle()
	require.EqualValues(t, 1, s.Stats().Stragglers.Total)
	_, err := c.Next(t.Context())
	require.Error(t, err)

	// One that has ended is no loss.
	c, req = open(t, s, a, "cap:echo")
	a.end(req)
	a.expect(frame.TypeEnd)
	before := s.Stats().Drops
	require.NoError(t, c.Close())
	require.Equal(t, before, s.Stats().Drops)
	a.nothing(s, "a")
}

func TestAChildOfTheEngineGoesWithItsParent(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	_, parent := open(t, s, a, "cap:echo")
	l, err := s.Open(t.Context(), call.Request{Cap: "cap:echo", Parent: parent.ID})
	require.NoError(t, err)
	defer l.Close()
	child := a.expect(frame.TypeReq)
	require.True(t, s.Cancel(parent.ID, false, byUser))
	requireCancel(t, a.next(), parent, false)
	requireCancel(t, a.next(), child, false)
	require.Equal(t, "CANCELLED/user", code(t, next(t, l, frame.TypeErr)))
}

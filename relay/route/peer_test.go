package route_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

// peer makes a peer call, without a parent for the zero id.
func (h *host) peer(cap string, parent frame.ID) frame.Frame {
	h.t.Helper()
	f := frame.NewReq(frame.NewUUID(), []byte(cap))
	if !parent.IsZero() {
		var b frame.MetaBuilder
		frame.ReqInfo{ParentRID: parent}.Put(&b)
		meta, err := b.Meta()
		require.NoError(h.t, err)
		f.Meta = meta.Clone()
	}
	h.send(f)
	return f
}

// open makes a request of the engine and has its host read the REQ.
func open(t testing.TB, s *route.Switch, h *host, cap string) (*route.Call, *frame.Frame) {
	t.Helper()
	l, err := s.Open(t.Context(), call.Request{Cap: cap})
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	req := h.expect(frame.TypeReq)
	require.Equal(t, l.ID(), req.ID)
	return l.(*route.Call), req
}

// next returns the next frame of a response, which has to be of a type.
func next(t testing.TB, l call.Link, want frame.Type) *frame.Frame {
	t.Helper()
	f, err := l.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, f.Type, "%+v", f)
	return f.Clone()
}

// over asserts that nothing more comes of a response.
func over(t testing.TB, l call.Link) {
	t.Helper()
	_, err := l.Next(t.Context())
	require.Equal(t, io.EOF, err)
}

// code returns the code and class of an ERR.
func code(t testing.TB, f *frame.Frame) string {
	t.Helper()
	require.Equal(t, frame.TypeErr, f.Type)
	info, err := f.ErrInfo()
	require.NoError(t, err)
	return string(info.Code) + "/" + info.Attribution.String()
}

// kinds returns how many requests have ended, by kind.
func kinds(s *route.Switch) map[stats.Kind]uint64 { return s.Stats().Requests.TerminatedByKind }

func TestAPeerCallGoesToAnotherMasterAndBack(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a, b := join(t, s, "a", identity, echoCap), join(t, s, "b", identity, hashCap)

	req := a.peer("cap:hash", frame.ID{})
	got := b.expect(frame.TypeReq)
	require.Equal(t, req.ID, got.ID)
	_, isNumber := got.RoutingID.Number()
	require.True(t, isNumber, "routing id %s", got.RoutingID)

	// The body goes without a routing id to the switch, and with it on.
	id := []byte("arg0")
	a.send(frame.NewStreamStart(req.ID, id, []byte("media:")))
	a.send(frame.NewStreamEnd(req.ID, id, frame.Some[uint64](0)))
	a.send(frame.NewBodyEnd(req.ID))
	for _, want := range []frame.Type{frame.TypeStreamStart, frame.TypeStreamEnd, frame.TypeEnd} {
		require.Equal(t, got.RoutingID, b.expect(want).RoutingID)
	}
	// Credit goes both ways.
	a.send(frame.NewCredit(req.ID, []byte("out"), 3, frame.ResponseDirection))
	require.Equal(t, frame.ResponseDirection, b.expect(frame.TypeCredit).CreditDirection())
	b.send(routed(frame.NewCredit(req.ID, id, 5, frame.RequestDirection), got.RoutingID))
	credit := a.expect(frame.TypeCredit)
	require.Equal(t, frame.Some[uint64](5), credit.Credit)
	require.Equal(t, got.RoutingID, credit.RoutingID)

	b.echo(got, "response")
	for _, want := range []frame.Type{frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd} {
		f := a.expect(want)
		require.Equal(t, [2]frame.ID{req.ID, got.RoutingID}, [2]frame.ID{f.ID, f.RoutingID})
	}
	b.nothing(s, "b")
	require.Equal(t, map[stats.Kind]uint64{stats.KindEnd: 1}, kinds(s))
	require.Empty(t, s.Stats().Requests.Active)
	require.Zero(t, s.Stats().Drops.Total)
}

func TestAPeerCallIsServedWhereItCameFrom(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, hashCap)

	req := a.peer("cap:hash", frame.ID{})
	got := a.expect(frame.TypeReq)
	require.Equal(t, req.ID, got.ID)
	a.send(frame.NewBodyEnd(req.ID))
	a.expect(frame.TypeEnd)
	a.end(got)
	require.Equal(t, got.RoutingID, a.expect(frame.TypeEnd).RoutingID)
	a.nothing(s, "a")
}

func TestAPeerCallOnOneMasterIsAnsweredBeforeItsBodyEnds(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, hashCap)

	req := a.peer("cap:hash", frame.ID{})
	got := a.expect(frame.TypeReq)
	start := frame.NewStreamStart(req.ID, []byte("arg0"), []byte("media:"))
	a.send(start)
	a.expect(frame.TypeStreamStart)
	a.fail(got, "NO_GOOD")
	require.Equal(t, "NO_GOOD/input", code(t, a.expect(frame.TypeErr)))
	// The host waits for the end of the body too.
	end := a.expect(frame.TypeEnd)
	require.Equal(t, got.RoutingID, end.RoutingID)
	// What the requester sent meanwhile is late.
	a.send(frame.NewStreamEnd(req.ID, []byte("arg0"), frame.Some[uint64](0)))
	a.send(frame.NewBodyEnd(req.ID))
	a.settle()
	require.Equal(t, map[string]uint64{"stream_end": 1, "end": 1}, s.Stats().Stragglers.ByFrameType)
	require.Zero(t, s.Stats().Drops.Total)
}

func TestAPeerCallThatNobodyServesIsAnsweredWithARoutingID(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, hashCap)

	req := a.peer("cap:nobody", frame.ID{})
	answer := a.expect(frame.TypeErr)
	require.Equal(t, "NO_HANDLER/environment", code(t, answer))
	require.Equal(t, req.ID, answer.ID)
	require.False(t, answer.RoutingID.IsZero(), "a host takes no ERR without a routing id")
	// What followed the REQ is late, not lost.
	a.send(frame.NewBodyEnd(req.ID))
	a.settle()
	require.Zero(t, s.Stats().Drops.Total)
	require.EqualValues(t, 1, s.Stats().Stragglers.Total)
	require.Zero(t, s.Stats().Requests.TotalRegistered)
}

func TestAPeerCallNamesTheCartridgeThatIsToServeIt(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, hashCap)
	near, far := sockets(t)
	b := joinOver(t, s, "b", near, far, func(h *host) {
		h.announceWith(frame.DefaultLimits(), recordsOf(record{id: "demo", caps: []string{identity, hashCap}}))
		h.echo(h.identify(), nonce)
	})
	for target, h := range map[string]*host{"demo": b, "nobody": nil} {
		f := frame.NewReq(frame.NewUUID(), []byte("cap:hash"))
		var m frame.MetaBuilder
		frame.ReqInfo{TargetCartridge: []byte(target)}.Put(&m)
		f.Meta, _ = m.Meta()
		a.send(f)
		if h != nil {
			require.Equal(t, f.ID, h.expect(frame.TypeReq).ID)
			continue
		}
		require.Equal(t, "NO_HANDLER/environment", code(t, a.expect(frame.TypeErr)))
	}
}

func TestAPeerCallWithTheIDOfOneThatRunsIsRefused(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a, b := join(t, s, "a", identity, hashCap), join(t, s, "b", identity)
	c, req := open(t, s, a, "cap:hash")

	b.send(frame.NewReq(req.ID, []byte("cap:hash")))
	require.Equal(t, "PROTOCOL_ERROR/internal", code(t, b.expect(frame.TypeErr)))
	// Nor do frames without a routing id reach a request that another master, or the engine, made.
	b.send(frame.NewBodyEnd(req.ID))
	b.send(routed(newErr(t, req.ID, "BAD"), req.RoutingID))
	cancel, err := frame.NewCancel(req.ID, true, frame.CancelReason{})
	require.NoError(t, err)
	b.send(cancel)
	b.settle()
	a.nothing(s, "a")
	require.Equal(t, map[string]uint64{"end": 1, "err": 1, "cancel": 1}, s.Stats().Drops.ByReasonFrameType[stats.NoRoute])

	a.end(req)
	next(t, c, frame.TypeEnd)
	over(t, c)
}

func TestAREQFromAHostWithARoutingIDOrWithoutACapIsItsDeath(t *testing.T) {
	for name, f := range map[string]frame.Frame{
		"routing id": routed(frame.NewReq(frame.NewUUID(), []byte("cap:hash")), frame.Number(1)),
		"no cap":     frame.NewReq(frame.NewUUID(), nil),
	} {
		t.Run(name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			s := newSwitch(t, nil)
			a, b := join(t, s, "a", identity), join(t, s, "b", identity, hashCap)
			a.send(f)
			a.ends()
			health := s.Health()
			require.False(t, health[0].Healthy)
			require.Contains(t, *health[0].LastError, "REQ")
			require.True(t, health[1].Healthy)
			open(t, s, b, "cap:hash")
		})
	}
}

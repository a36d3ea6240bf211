package route_test

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

func TestTheSnapshotTellsOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []stats.Terminated
		s, err := route.New(t.Context(), nil, &route.Options{OnTerminated: func(e stats.Terminated) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, e)
		}})
		require.NoError(t, err)
		defer s.Close()
		joinAs := func(id string, urns ...string) *host {
			near, far := pipes()
			return joinOver(t, s, id, near, far, func(h *host) { h.hello(urns...) })
		}
		a, b := joinAs("a", identity, echoCap), joinAs("b", identity, hashCap)
		l, err := s.Open(t.Context(), call.Request{Cap: "cap:echo", ID: frame.Number(100)})
		require.NoError(t, err)
		defer l.Close()
		req := a.expect(frame.TypeReq)
		child := a.peer("cap:hash", req.ID)
		childReq := b.expect(frame.TypeReq)
		stream := []byte("arg0")
		start := frame.NewStreamStart(child.ID, stream, []byte("media:"))
		start.Unbounded = frame.Some(true)
		a.send(start)
		for i := range uint64(3) {
			a.send(frame.NewChunk(child.ID, stream, i, make([]byte, 10), 0))
		}
		a.send(frame.NewStreamEnd(child.ID, stream, frame.Optional[uint64]{}))
		for range 5 {
			b.next()
		}
		b.send(routed(frame.NewCredit(child.ID, nil, 2, frame.RequestDirection), childReq.RoutingID)) // its only stream
		b.send(routed(frame.NewChunk(child.ID, []byte("out"), 0, make([]byte, 7), 0), childReq.RoutingID))
		log, err := frame.NewLog(child.ID, frame.LogInfo{Level: []byte("info"), Message: []byte("x"), Attribution: frame.AttributionInternal})
		require.NoError(t, err)
		b.send(routed(log, childReq.RoutingID))
		for range 3 {
			a.next()
		}
		time.Sleep(1500 * time.Millisecond)

		zero := 0
		out, arg0 := "out", "arg0"
		want := []stats.Active{
			{
				XID: req.RoutingID, RID: frame.Number(100), Phase: stats.PhaseStreaming, CapURN: "cap:echo",
				DestinationMaster: 0, AgeMS: 1500, IdleMS: 1500, Children: 1,
				Streams: []stats.Stream{{FramesOut: 1}},
			},
			{
				XID: childReq.RoutingID, RID: child.ID, Phase: stats.PhaseStreaming, IsPeer: true, CapURN: "cap:hash",
				OriginMaster: &zero, DestinationMaster: 1, AgeMS: 1500, IdleMS: 1500,
				Streams: []stats.Stream{
					{FramesOut: 1, FramesIn: 1},
					{StreamID: &arg0, FramesOut: 5, FramesIn: 1, BytesOut: 30, ChunksOut: 3, CreditOutstanding: 31, Unbounded: true, Ended: true},
					{StreamID: &out, FramesIn: 1, BytesIn: 7, ChunksIn: 1, CreditOutstanding: 31},
				},
			},
		}
		got := s.Stats().Requests
		if got.Active[0].RID != frame.Number(100) { // in the order of the texts of their ids
			want[0], want[1] = want[1], want[0]
		}
		require.Equal(t, want, got.Active)
		require.EqualValues(t, 2, got.TotalRegistered)
		require.Empty(t, got.RecentTerminated)

		b.end(childReq)
		b.expect(frame.TypeEnd)
		require.NoError(t, l.Cancel(false, byUser))
		ended := []stats.Terminated{
			{XID: childReq.RoutingID, RID: child.ID, Kind: stats.KindEnd, IsPeer: true, CapURN: "cap:hash", LifetimeMS: 1500, FramesIn: 4, FramesOut: 6, BytesIn: 7, BytesOut: 30},
			{XID: req.RoutingID, RID: req.ID, Kind: stats.KindCancelled, CancelCode: "CANCELLED", CancelClass: "user", CancelReason: "Cancelled by user", CapURN: "cap:echo", LifetimeMS: 1500, FramesOut: 1},
		}
		got = s.Stats().Requests
		require.Empty(t, got.Active)
		require.Equal(t, ended, got.RecentTerminated)
		require.Equal(t, map[stats.Kind]uint64{stats.KindEnd: 1, stats.KindCancelled: 1}, got.TerminatedByKind)
		mu.Lock()
		require.Equal(t, ended, told)
		mu.Unlock()
	})
}

func TestARequestThatIsRegisteredIsCreated(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	join(t, s, "a", identity, echoCap)
	_, l, err := s.Register(t.Context(), frame.NewUUID(), "cap:echo", "")
	require.NoError(t, err)
	defer l.Close()
	active := s.Stats().Requests.Active[0]
	require.Equal(t, stats.PhaseCreated, active.Phase)
	require.Empty(t, active.Streams)
}

func TestTheSnapshotHasWhatHostsTell(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity)
	join(t, s, "b", identity)
	require.Empty(t, s.Stats().Hosts)
	a.announceWith(frame.DefaultLimits(), `{"caps": ["cap:effect=none"], "host_protocol_stats":
		{"drops": {"total": 3, "by_reason": {"no_route": 3}}, "outgoing_rids": 5}}`)
	a.settle()
	got := s.Stats()
	require.Len(t, got.Hosts, 1)
	require.EqualValues(t, 3, got.Hosts["a"].Drops.ByReason[stats.NoRoute])
	require.EqualValues(t, 5, got.Hosts["a"].OutgoingRIDs)
	text, err := json.Marshal(got)
	require.NoError(t, err)
	require.Contains(t, string(text), `"hosts":{"a":{`)
}

// A request whose sender makes up streams without end takes no memory without end.
func TestStreamsBeyondMeasureAreCountedTogether(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	c, req := open(t, s, a, "cap:echo")
	const streams = 1500
	for i := range streams {
		f := routed(frame.NewChunk(req.ID, fmt.Appendf(nil, "stream-%d", i), 0, []byte("x"), 0), req.RoutingID)
		a.send(f)
		a.send(f)
		next(t, c, frame.TypeChunk)
		next(t, c, frame.TypeChunk)
	}
	a.send(routed(frame.NewCredit(req.ID, []byte("stream-7"), math.MaxUint64, frame.RequestDirection), req.RoutingID))
	a.settle()
	got := s.Stats().Requests.Active[0].Streams
	require.Len(t, got, 1025)
	var frames uint64
	for _, stream := range got {
		frames += stream.ChunksIn
		if stream.StreamID != nil {
			require.EqualValues(t, 2, stream.ChunksIn)
			if *stream.StreamID == "stream-7" {
				require.EqualValues(t, math.MaxInt64, stream.CreditOutstanding)
			} else {
				require.EqualValues(t, 30, stream.CreditOutstanding)
			}
		}
	}
	require.EqualValues(t, 2*streams, frames)
}

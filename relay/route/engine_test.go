package route_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

func TestARequestGoesToItsHandlerAndBack(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	h := join(t, s, "a", identity, echoCap)
	var m frame.MetaBuilder
	m.Text("trace", "7")
	meta, err := m.Meta()
	require.NoError(t, err)
	var credits []uint64
	id := frame.NewUUID()
	l, err := s.Open(t.Context(), call.Request{
		Cap: "cap:echo", ID: id, ContentType: "text/plain", Meta: meta,
		OnCredit: func(f *frame.Frame) { n, _ := f.Credit.Get(); credits = append(credits, n) },
	})
	require.NoError(t, err)
	defer l.Close()
	require.Equal(t, id, l.ID())

	req := h.expect(frame.TypeReq)
	require.Equal(t, [2]frame.ID{id, l.(*route.Call).RoutingID()}, [2]frame.ID{req.ID, req.RoutingID})
	require.Equal(t, "cap:echo", string(req.Cap))
	require.Equal(t, "text/plain", string(req.ContentType))
	require.NotNil(t, req.Payload)
	require.Empty(t, req.Payload)
	trace, _ := req.Meta.Text("trace")
	require.Equal(t, "7", string(trace))

	stream := []byte("arg0")
	for _, f := range []frame.Frame{
		frame.NewStreamStart(frame.ID{}, stream, []byte("media:")),
		frame.NewChunk(frame.ID{}, stream, 0, []byte{0x40}, flow.Checksum([]byte{0x40})),
		frame.NewStreamEnd(frame.ID{}, stream, frame.Some[uint64](1)),
		frame.NewBodyEnd(frame.ID{}),
		frame.NewCredit(frame.ID{}, []byte("x"), 2, frame.ResponseDirection),
		frame.NewCloseStream(frame.ID{}, nil),
	} {
		require.NoError(t, l.Send(t.Context(), &f))
		got := h.expect(f.Type)
		require.Equal(t, [2]frame.ID{req.ID, req.RoutingID}, [2]frame.ID{got.ID, got.RoutingID})
	}
	// After the end of the body only what belongs to no flow passes.
	again := frame.NewBodyEnd(frame.ID{})
	require.NoError(t, l.Send(t.Context(), &again))
	require.Equal(t, map[string]uint64{"end": 1}, s.Stats().Stragglers.ByFrameType)

	h.send(routed(frame.NewCredit(req.ID, stream, 9, frame.RequestDirection), req.RoutingID))
	h.echo(req, "hello")
	for _, want := range []frame.Type{frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd} {
		f := next(t, l, want)
		require.Equal(t, req.RoutingID, f.RoutingID, "the routing id is kept")
	}
	over(t, l)
	require.Equal(t, []uint64{9}, credits)
	require.ErrorIs(t, l.Send(t.Context(), &again), call.ErrEnded)
	late := frame.NewCredit(frame.ID{}, nil, 1, frame.ResponseDirection)
	require.NoError(t, l.Send(t.Context(), &late), "a late grant is moot")
	h.nothing(s, "a")
}

func TestARequestWithoutOnCreditReadsTheCredit(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	h := join(t, s, "a", identity, echoCap)
	c, req := open(t, s, h, "cap:echo")
	_, ok := c.TryNext()
	require.False(t, ok)
	h.send(routed(frame.NewCredit(req.ID, nil, 9, frame.RequestDirection), req.RoutingID))
	next(t, c, frame.TypeCredit)
	h.end(req)
	h.settleAround(func() { h.expect(frame.TypeEnd) })
	f, ok := c.TryNext()
	require.True(t, ok)
	require.Equal(t, frame.TypeEnd, f.Type)
	_, ok = c.TryNext()
	require.False(t, ok)
	over(t, c)
}

func TestFramesAreSeenOnArrival(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	h := join(t, s, "a", identity, echoCap)
	arrived := make(chan string, 10)
	l, err := s.Open(t.Context(), call.Request{Cap: "cap:echo", OnChunk: func(f *frame.Frame) { arrived <- string(f.Payload) }})
	require.NoError(t, err)
	defer l.Close()
	h.echo(h.expect(frame.TypeReq), "now")
	require.Equal(t, "now", <-arrived)
}

func TestAShortRequestGoesOutInOnePiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := route.New(t.Context(), nil, nil)
		require.NoError(t, err)
		defer s.Close()
		near, far := pipes()
		h := joinOver(t, s, "a", near, far, func(h *host) { h.hello(identity, echoCap) })
		l, err := s.Open(t.Context(), call.Request{Cap: "cap:echo", Batch: true})
		require.NoError(t, err)
		defer l.Close()
		b := l.(call.Batcher)
		start := frame.NewStreamStart(frame.ID{}, []byte("arg0"), []byte("media:"))
		require.NoError(t, b.Queue(t.Context(), &start))
		read := make(chan frame.Type)
		go func() { read <- h.next().Type }()
		synctest.Wait()
		select {
		case typ := <-read:
			t.Fatalf("%s was written before the flush", typ)
		default:
		}
		b.Flush()
		require.Equal(t, frame.TypeReq, <-read)
		h.expect(frame.TypeStreamStart)
	})
}

func TestExecuteTakesANumberAndAPayload(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	h := join(t, s, "a", identity, echoCap) // its check took 1
	l, err := s.Execute(t.Context(), "cap:echo", []byte("payload"), "text/plain")
	require.NoError(t, err)
	defer l.Close()
	req := h.expect(frame.TypeReq)
	require.Equal(t, [2]frame.ID{frame.Number(2), frame.Number(3)}, [2]frame.ID{req.ID, req.RoutingID})
	require.Equal(t, "payload", string(req.Payload))
	require.Equal(t, "text/plain", string(req.ContentType))
	h.end(req)
	next(t, l, frame.TypeEnd)
	_, err = s.Execute(t.Context(), "cap:nobody", nil, "")
	require.ErrorIs(t, err, route.ErrNoHandler)
}

func TestARegisteredRequestIsSentByItsCaller(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	near, far := sockets(t)
	b := joinOver(t, s, "b", near, far, func(h *host) {
		h.announceWith(frame.DefaultLimits(), recordsOf(record{id: "demo", caps: []string{identity, echoCap}}))
		h.echo(h.identify(), nonce)
	})
	rid := frame.NewUUID()
	xid, l, err := s.Register(t.Context(), rid, "cap:echo", "")
	require.NoError(t, err)
	defer l.Close()
	a.nothing(s, "a")
	_, _, err = s.Register(t.Context(), rid, "cap:echo", "")
	require.ErrorIs(t, err, route.ErrProtocol)
	body := frame.NewBodyEnd(rid)
	require.ErrorIs(t, s.Send(t.Context(), &body, ""), route.ErrProtocol, "before the REQ")
	req := routed(frame.NewReq(rid, []byte("cap:echo")), frame.Number(999))
	require.ErrorIs(t, s.Send(t.Context(), &req, ""), route.ErrProtocol, "not its routing id")
	req.RoutingID = xid
	require.NoError(t, s.Send(t.Context(), &req, ""))
	require.ErrorIs(t, s.Send(t.Context(), &req, ""), route.ErrProtocol, "twice")
	require.NoError(t, s.Send(t.Context(), &body, ""))
	got := a.expect(frame.TypeReq)
	a.expect(frame.TypeEnd)
	a.end(got)
	next(t, l, frame.TypeEnd)

	// One that is given up before its REQ went, or whose REQ cannot go.
	_, l, err = s.Register(t.Context(), rid, "cap:echo", "")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	a.nothing(s, "a")
	_, l, err = s.Register(t.Context(), rid, "cap:echo", "")
	require.NoError(t, err)
	defer l.Close()
	req = frame.NewReq(rid, []byte("cap:echo"))
	req.Payload = make([]byte, 4<<20)
	require.ErrorIs(t, l.Send(t.Context(), &req), frame.ErrFrameTooLarge)
	require.Equal(t, "FRAME_TOO_LARGE/internal", code(t, next(t, l, frame.TypeErr)))
	over(t, l)
	a.nothing(s, "a")

	// For a cartridge: the caller names it, and the link sends as well.
	xid, l, err = s.RegisterForCartridge(t.Context(), rid, "cap:echo", "demo")
	require.NoError(t, err)
	defer l.Close()
	req = frame.NewReq(rid, []byte("cap:echo"))
	require.NoError(t, l.Send(t.Context(), &req))
	require.Equal(t, xid, b.expect(frame.TypeReq).RoutingID)
	_, _, err = s.RegisterForCartridge(t.Context(), frame.NewUUID(), "cap:echo", "nobody")
	require.ErrorIs(t, err, route.ErrNoHandler)
}

func TestOpenNamesTheCartridge(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	join(t, s, "a", identity, echoCap)
	near, far := sockets(t)
	b := joinOver(t, s, "b", near, far, func(h *host) {
		h.announceWith(frame.DefaultLimits(), recordsOf(record{id: "demo", caps: []string{identity, echoCap}}))
		h.echo(h.identify(), nonce)
	})
	var m frame.MetaBuilder
	m.Uint("x", 1)
	meta, _ := m.Meta()
	l, err := s.Open(t.Context(), call.Request{Cap: "cap:echo", Cartridge: "demo", Meta: meta})
	require.NoError(t, err)
	defer l.Close()
	req := b.expect(frame.TypeReq)
	require.Equal(t, "demo", string(req.ReqInfo().TargetCartridge))
	x, _ := req.Meta.Uint("x")
	require.EqualValues(t, 1, x)
	_, err = s.Open(t.Context(), call.Request{Cap: "cap:echo", Cartridge: "nobody"})
	require.ErrorIs(t, err, route.ErrNoHandler)
}

// Requests without a channel.
func TestFramesOfTheEngine(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	near, far := sockets(t)
	b := joinOver(t, s, "b", near, far, func(h *host) {
		h.announceWith(frame.DefaultLimits(), recordsOf(record{id: "demo", caps: []string{identity, hashCap}}))
		h.echo(h.identify(), nonce)
	})
	send := func(f frame.Frame) error { return s.Send(t.Context(), &f, "") }
	rid := frame.NewUUID()

	require.ErrorIs(t, send(frame.NewReq(rid, nil)), route.ErrProtocol)
	require.ErrorIs(t, send(frame.NewReq(rid, []byte("cap:nobody"))), route.ErrNoHandler)
	require.ErrorIs(t, send(routed(frame.NewReq(rid, []byte("cap:echo")), frame.Number(1))), route.ErrProtocol)
	target := func(id string) frame.Frame {
		f := frame.NewReq(frame.NewUUID(), []byte("cap:hash"))
		var m frame.MetaBuilder
		frame.ReqInfo{TargetCartridge: []byte(id)}.Put(&m)
		f.Meta, _ = m.Meta()
		return f
	}
	require.ErrorIs(t, send(target("nobody")), route.ErrNoHandler)
	require.NoError(t, send(target("demo")))
	b.expect(frame.TypeReq)

	require.NoError(t, send(frame.NewReq(rid, []byte("cap:echo"))))
	require.ErrorIs(t, send(frame.NewReq(rid, []byte("cap:echo"))), route.ErrProtocol, "it runs")
	req := a.expect(frame.TypeReq)
	cancel, err := frame.NewCancel(rid, false, byUser)
	require.NoError(t, err)
	stream := []byte("s")
	for _, f := range []frame.Frame{
		frame.NewStreamStart(rid, stream, []byte("media:")),
		frame.NewChunk(rid, stream, 0, nil, 0),
		routed(frame.NewStreamEnd(rid, stream, frame.Some[uint64](1)), req.RoutingID),
		frame.NewCredit(rid, stream, 1, frame.ResponseDirection),
		frame.NewCloseStream(rid, nil),
		cancel,
		newErr(t, rid, "ENOUGH"),
	} {
		require.NoError(t, send(f))
		require.Equal(t, req.RoutingID, a.expect(f.Type).RoutingID)
	}
	require.Len(t, s.Stats().Requests.Active, 2, "neither CANCEL nor ERR ends it")
	log, err := frame.NewLog(rid, frame.LogInfo{Level: []byte("info"), Message: []byte("x"), Attribution: frame.AttributionInternal})
	require.NoError(t, err)
	for _, f := range []frame.Frame{log, frame.NewPolicy(nil), frame.NewRelayState(nil)} {
		require.ErrorIs(t, send(f), route.ErrProtocol, f.Type)
	}
	for _, f := range []frame.Frame{
		frame.NewBodyEnd(frame.NewUUID()),
		routed(frame.NewBodyEnd(rid), frame.Number(999)),
		frame.NewCredit(frame.NewUUID(), nil, 1, frame.ResponseDirection),
	} {
		require.ErrorIs(t, send(f), route.ErrUnknownRequest)
	}

	a.echo(req, "answer")
	for _, want := range []frame.Type{frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd} {
		f, err := s.Read(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, f.Type)
		require.Equal(t, rid, f.ID)
		require.True(t, f.RoutingID.IsZero())
	}
	require.ErrorIs(t, send(frame.NewBodyEnd(rid)), route.ErrUnknownRequest)
	require.NoError(t, send(frame.NewCredit(rid, nil, 1, frame.ResponseDirection)), "a late grant is moot")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(io.ErrNoProgress)
	_, err = s.Read(ctx)
	require.ErrorIs(t, err, io.ErrNoProgress)
}

func TestACancelledRequestWithoutAChannelIsAnsweredToo(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	f := frame.NewReq(frame.NewUUID(), []byte("cap:echo"))
	require.NoError(t, s.Send(t.Context(), &f, ""))
	a.expect(frame.TypeReq)
	require.True(t, s.Cancel(f.ID, false, byUser))
	got, err := s.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, "CANCELLED/user", code(t, got))
}

func TestAResponseThatNobodyReadsIsCancelled(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, &route.Options{MaxQueued: 1000})
	a := join(t, s, "a", identity, echoCap)
	flood := func(req *frame.Frame) {
		for i := range uint64(10) {
			a.send(routed(frame.NewChunk(req.ID, []byte("x"), i, make([]byte, 940), 0), req.RoutingID))
		}
	}
	// Without a channel.
	f := frame.NewReq(frame.NewUUID(), []byte("cap:echo"))
	require.NoError(t, s.Send(t.Context(), &f, ""))
	flood(a.expect(frame.TypeReq))
	require.Equal(t, "ABORTED", string(a.expect(frame.TypeCancel).CancelReason().Code))
	a.settle()
	require.NotZero(t, s.Stats().Drops.ByReason[stats.ChannelClosed])
	// With one, the caller learns of it after what there was, though there is no room for that either.
	c, req := open(t, s, a, "cap:echo")
	flood(req)
	require.Equal(t, "CREDIT_VIOLATION", string(a.expect(frame.TypeCancel).CancelReason().Code))
	require.EqualValues(t, 1, s.Stats().Drops.ByReason[stats.CreditViolation])
	for range 4 {
		next(t, c, frame.TypeChunk)
	}
	require.Equal(t, "CREDIT_VIOLATION/internal", code(t, next(t, c, frame.TypeErr)))
	over(t, c)
	a.settle()
	require.Equal(t, map[string]uint64{"chunk": 10}, s.Stats().Stragglers.ByFrameType)
}

// No frame above a host's limit is written to it: its request ends instead.
func TestAFrameThatIsTooLongForAHostEndsItsRequest(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	limits := frame.DefaultLimits()
	limits.MaxFrame = 2000
	near, far := sockets(t)
	small := joinOver(t, s, "small", near, far, func(h *host) {
		h.announceWith(limits, manifestOf(identity, hashCap))
		h.echo(h.identify(), nonce)
	})
	large := join(t, s, "large", identity, echoCap)
	long := frame.NewChunk(frame.ID{}, []byte("x"), 0, make([]byte, 3000), 0)

	// From the engine.
	c, req := open(t, s, small, "cap:hash")
	require.ErrorIs(t, c.Send(t.Context(), &long), frame.ErrFrameTooLarge)
	require.Equal(t, "FRAME_TOO_LARGE", string(small.expect(frame.TypeCancel).CancelReason().Code))
	require.Equal(t, "FRAME_TOO_LARGE/internal", code(t, next(t, c, frame.TypeErr)))
	over(t, c)
	_, err := s.Execute(t.Context(), "cap:hash", make([]byte, 3000), "")
	require.ErrorIs(t, err, frame.ErrFrameTooLarge)
	small.fail(req, "CANCELLED")

	// From a requester.
	peer := large.peer("cap:hash", frame.ID{})
	req = small.expect(frame.TypeReq)
	large.send(frame.NewChunk(peer.ID, []byte("x"), 0, make([]byte, 3000), 0))
	require.Equal(t, "FRAME_TOO_LARGE/internal", code(t, large.next()))
	require.Equal(t, "FRAME_TOO_LARGE", string(small.expect(frame.TypeCancel).CancelReason().Code))
	small.fail(req, "CANCELLED")
	big := frame.NewReq(frame.NewUUID(), []byte("cap:hash"))
	big.Payload = make([]byte, 3000)
	large.send(big)
	require.Equal(t, "FRAME_TOO_LARGE/internal", code(t, large.next()))

	// From a handler, also when it is the end.
	small.peer("cap:echo", frame.ID{})
	req = large.expect(frame.TypeReq)
	large.send(routed(frame.NewChunk(req.ID, []byte("x"), 0, make([]byte, 3000), 0), req.RoutingID))
	require.Equal(t, "FRAME_TOO_LARGE/internal", code(t, small.next()))
	require.Equal(t, "FRAME_TOO_LARGE", string(large.expect(frame.TypeCancel).CancelReason().Code))
	small.peer("cap:echo", frame.ID{})
	req = large.expect(frame.TypeReq)
	end, err := frame.NewEnd(req.ID, frame.EndInfo{Message: make([]byte, 3000)})
	require.NoError(t, err)
	large.send(routed(end, req.RoutingID))
	require.Equal(t, "FRAME_TOO_LARGE/internal", code(t, small.next()))
	large.expect(frame.TypeEnd)
	require.Empty(t, s.Stats().Requests.Active)
	require.True(t, s.Health()[0].Healthy && s.Health()[1].Healthy)
}

func TestAClosedSwitchSaysSo(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	c, req := open(t, s, a, "cap:echo")
	read := make(chan error, 1)
	go func() {
		_, err := s.Read(context.Background())
		read <- err
	}()
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-read, route.ErrClosed)
	require.Equal(t, "ABORTED/environment", code(t, next(t, c, frame.TypeErr)))
	over(t, c)
	require.Equal(t, map[stats.Kind]uint64{stats.KindCancelled: 1}, kinds(s))
	end := frame.NewBodyEnd(req.ID)
	require.ErrorIs(t, c.Send(t.Context(), &end), call.ErrEnded)
	_, err := s.Open(t.Context(), call.Request{Cap: "cap:echo"})
	require.ErrorIs(t, err, route.ErrClosed)
	require.ErrorIs(t, s.SetPolicy(&route.Policy{}), route.ErrClosed)
	require.ErrorIs(t, s.SendState("a", nil), route.ErrClosed)
	require.ErrorIs(t, s.WaitForCap(t.Context(), "cap:echo"), route.ErrClosed)
	require.False(t, s.AcceptsAttach("a"))
	require.False(t, s.Cancel(req.ID, false, byUser))
	a.ends()
	require.NoError(t, c.Close())
	require.True(t, errors.Is(err, route.ErrClosed))
}

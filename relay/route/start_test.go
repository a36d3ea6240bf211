package route_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// start makes a switch of hosts, each of which does something meanwhile.
func start(t testing.TB, o *route.Options, hosts ...func(h *host)) (*route.Switch, []*host, error) {
	t.Helper()
	var sockets_ []route.Socket
	var far []*host
	var running sync.WaitGroup
	for i, do := range hosts {
		near, conn := sockets(t)
		sockets_ = append(sockets_, route.Socket{ID: fmt.Sprint("host-", i), Conn: near})
		h := newHost(t, conn)
		far = append(far, h)
		running.Go(func() { do(h) })
	}
	s, err := route.New(t.Context(), sockets_, o)
	running.Wait()
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	return s, far, err
}

// Requirements: C1, C2, C3, C4, W1
func TestASwitchStartsWithAllOfItsHosts(t *testing.T) {
	relaytest.NoLeaks(t)
	var xids [3]frame.ID
	all := func(i int) func(h *host) {
		return func(h *host) {
			h.announce(identity, hashCap)
			req := h.identify()
			xids[i] = req.RoutingID
			h.echo(req, nonce)
		}
	}
	s, hosts, err := start(t, nil, all(0), all(1), all(2))
	require.NoError(t, err)
	require.Equal(t, [3]frame.ID{frame.Number(1), frame.Number(2), frame.Number(3)}, xids)
	for i, h := range s.Health() {
		require.True(t, h.Healthy)
		require.Equal(t, i, h.Index)
		require.Equal(t, fmt.Sprint("host-", i), h.ID)
		require.Equal(t, 2, h.Caps)
		require.Nil(t, h.LastError)
	}
	_, req := open(t, s, hosts[0], "cap:hash")
	require.Equal(t, frame.Number(4), req.RoutingID)
}

func TestASwitchStartsWithoutHosts(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	require.Empty(t, s.Health())
	require.Empty(t, s.Capabilities())
	require.Equal(t, frame.DefaultLimits(), s.Limits())
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
}

func TestIDsOfMastersDiffer(t *testing.T) {
	relaytest.NoLeaks(t)
	near, far := sockets(t)
	near2, far2 := sockets(t)
	_, err := route.New(t.Context(), []route.Socket{{ID: "a", Conn: near}, {ID: "a", Conn: near2}}, nil)
	require.ErrorContains(t, err, `master 1: its id "a" is another's too`)
	for _, conn := range []io.ReadWriteCloser{far, far2} {
		newHost(t, conn).ends()
	}
}

// Requirements: N2, M1, C3
func TestAnyFailureEndsTheWholeStart(t *testing.T) {
	good := func(h *host) { h.hello(identity) }
	noPolicy := frame.NewPolicy([]byte("x"))
	for name, test := range map[string]struct {
		do   func(h *host)
		want string
		kind error
	}{
		"the link ends before the first frame": {func(h *host) { h.conn.Close() }, "closed before relay_notify", frame.ErrHandshake},
		"the first frame is another one":       {func(h *host) { h.send(frame.NewReq(frame.NewUUID(), []byte(identity))) }, "req", frame.ErrProtocol},
		"the first frame is a policy":          {func(h *host) { h.send(noPolicy) }, "policy", frame.ErrProtocol},
		"no caps":                              {func(h *host) { h.announce() }, "", frame.ErrProtocol},
		"no identity":                          {func(h *host) { h.announce(hashCap) }, "cap:effect=none", frame.ErrProtocol},
		"a manifest that is no JSON":           {func(h *host) { h.announceWith(frame.DefaultLimits(), "{") }, "", frame.ErrProtocol},
		"a cap that is none":                   {func(h *host) { h.announce(identity, "no cap") }, "no cap", frame.ErrProtocol},
		"another answer": {func(h *host) {
			h.announce(identity)
			h.echo(h.identify(), "\x66bifacj")
		}, "identity check", frame.ErrProtocol},
		"the nonce in a byte string": {func(h *host) {
			h.announce(identity)
			h.echo(h.identify(), "\x47"+nonce)
		}, "identity check", frame.ErrProtocol},
		"an answer that is long": {func(h *host) {
			h.announce(identity)
			h.echo(h.identify(), nonce+string(make([]byte, 100_000)))
		}, "identity check", frame.ErrProtocol},
		"an answer that is cut": {func(h *host) {
			h.announce(identity)
			h.echo(h.identify(), nonce[:6])
		}, "identity check", frame.ErrProtocol},
		"an ERR": {func(h *host) {
			h.announce(identity)
			h.fail(h.identify(), "NO_GOOD")
		}, "NO_GOOD: it does not work", frame.ErrProtocol},
		"a policy in the answer": {func(h *host) {
			h.announce(identity)
			h.identify()
			h.send(noPolicy)
		}, "policy", frame.ErrProtocol},
		"a REQ in the answer": {func(h *host) {
			h.announce(identity)
			h.identify()
			h.send(frame.NewReq(frame.NewUUID(), []byte(identity)))
		}, "a req frame", frame.ErrProtocol},
		"the link ends in the answer": {func(h *host) {
			h.announce(identity)
			h.identify()
			h.conn.Close()
		}, "closed", nil},
		"the answer is no frame": {func(h *host) {
			h.announce(identity)
			h.identify()
			h.conn.Write([]byte{0, 0, 0, 1, 0xff})
		}, "", frame.ErrDecode},
	} {
		t.Run(name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			_, hosts, err := start(t, nil, good, func(h *host) { test.do(h) }, func(*host) {})
			require.ErrorContains(t, err, `master 1 ("host-1")`)
			require.ErrorContains(t, err, test.want)
			if test.kind != nil {
				require.ErrorIs(t, err, test.kind)
			}
			hosts[0].ends() // nothing but the end came after its identity check
			hosts[2].ends() // it was never asked for anything
		})
	}
}

func TestAHostThatHangsEndsTheStart(t *testing.T) {
	for name, test := range map[string]struct {
		do   func(h *host)
		want string
	}{
		"before it announces itself": {func(h *host) {}, "did not announce itself"},
		"in the identity check":      {func(h *host) { h.announce(identity); h.identify() }, "not answered in time"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := pipes()
				h := newHost(t, far)
				go test.do(h)
				began := time.Now()
				_, err := route.New(t.Context(), []route.Socket{{ID: "a", Conn: near}}, nil)
				require.ErrorContains(t, err, test.want)
				require.Equal(t, 30*time.Second, time.Since(began))
				h.ends()
			})
		})
	}
}

func TestTheContextEndsTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := pipes()
		h := newHost(t, far)
		go func() { h.announce(identity); h.identify() }()
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		_, err := route.New(ctx, []route.Socket{{ID: "a", Conn: near}}, nil)
		require.ErrorIs(t, err, why)
		h.ends()
	})
}

// What belongs to no answer is legal during the check.
//
// Requirements: N3, C3
func TestFramesDuringTheIdentityCheck(t *testing.T) {
	relaytest.NoLeaks(t)
	limits := frame.DefaultLimits()
	limits.InitialCredit, limits.MaxReorderBuffer = 7, 9
	s, hosts, err := start(t, nil, func(h *host) {
		h.announce(identity)
		req := h.identify()
		log, err := frame.NewLog(req.ID, frame.LogInfo{Level: []byte("queued"), Message: []byte("wait"), Attribution: frame.AttributionEnvironment})
		require.NoError(t, err)
		h.send(routed(log, req.RoutingID))
		h.send(routed(frame.NewCredit(req.ID, []byte("identity-verify"), 1, frame.RequestDirection), req.RoutingID))
		h.send(routed(frame.NewCredit(frame.NewUUID(), nil, 1, frame.RequestDirection), frame.Number(99)))
		beat, err := frame.NewHeartbeat(frame.NewUUID(), frame.Heartbeat{})
		require.NoError(t, err)
		h.send(beat)
		// A fuller manifest replaces the first, and one that is refused does not.
		h.announceWith(limits, manifestOf(identity, hashCap))
		h.announceWith(frame.DefaultLimits(), "[]")
		// A late echo of another check is passed over.
		other := &frame.Frame{ID: frame.NewUUID(), RoutingID: frame.Number(77)}
		h.echo(other, "something else")
		h.echo(req, nonce)
	})
	require.NoError(t, err)
	require.Equal(t, limits, s.Limits())
	require.Len(t, s.Capabilities(), 2)
	open(t, s, hosts[0], "cap:hash")
}

func TestTheAnswerMayComeInPieces(t *testing.T) {
	relaytest.NoLeaks(t)
	s, _, err := start(t, nil, func(h *host) {
		h.announce(identity)
		req := h.identify()
		id := []byte("x")
		for i := range nonce {
			h.send(routed(frame.NewChunk(req.ID, id, uint64(i), []byte(nonce[i:i+1]), 0), req.RoutingID))
		}
		h.end(req)
	})
	require.NoError(t, err)
	require.True(t, s.Health()[0].Healthy)
}

// Requirement: N2
func TestAHostWithoutCapsJoinsWhereThatIsAllowed(t *testing.T) {
	relaytest.NoLeaks(t)
	s, hosts, err := start(t, &route.Options{AllowEmptyHosts: true}, func(h *host) { h.announce() })
	require.NoError(t, err)
	require.True(t, s.Health()[0].Healthy)
	require.Empty(t, s.Capabilities())
	hosts[0].nothing(s, "host-0")
}

func TestPolicyIsTheFirstFrameBeforeTheIdentityCheck(t *testing.T) {
	relaytest.NoLeaks(t)
	o := &route.Options{Policy: &route.Policy{Payload: []byte(`{"gpu": false}`)}}
	check := func(h *host) {
		h.announce(identity)
		f := h.expect(frame.TypePolicy)
		require.Equal(t, frame.Number(0), f.ID)
		require.True(t, f.RoutingID.IsZero())
		require.Equal(t, `{"gpu": false}`, string(f.Payload))
		h.echo(h.identify(), nonce)
	}
	_, _, err := start(t, o, check, check)
	require.NoError(t, err)
}

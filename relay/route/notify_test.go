package route_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

// Requirements: N3, N4, W2
func TestANotifyChangesWhatIsOfferedAndReachesNobody(t *testing.T) {
	relaytest.NoLeaks(t)
	var mu sync.Mutex
	told := map[string][]int{}
	s := newSwitch(t, &route.Options{OnNotify: func(id string, m *manifest.Inventory) {
		mu.Lock()
		defer mu.Unlock()
		told[id] = append(told[id], len(m.Caps))
	}})
	a, b := join(t, s, "a", identity, echoCap), join(t, s, "b", identity)
	c, req := open(t, s, a, "cap:echo")

	limits := frame.DefaultLimits()
	limits.MaxChunk, limits.InitialCredit = 1000, 5
	a.announceWith(limits, manifestOf(identity, hashCap))
	a.settle()
	require.Equal(t, []string{identity, canonical(hashCap)}, s.Capabilities())
	require.Equal(t, limits, s.Limits())
	_, err := s.Open(t.Context(), call.Request{Cap: "cap:echo"})
	require.ErrorIs(t, err, route.ErrNoHandler)
	l, _ := open(t, s, a, "cap:hash")
	require.Equal(t, limits, l.Limits())
	// What runs goes on, and nobody else hears of it.
	a.end(req)
	next(t, c, frame.TypeEnd)
	b.nothing(s, "b")
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, map[string][]int{"a": {2, 2}, "b": {1}}, told)
}

func TestANotifyThatCannotBeTakenChangesNothing(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	before := s.Health()[0]
	for _, bad := range []string{"", "{}", "[]", manifestOf("no cap"), manifestOf(echoCap), `{"caps": 1}`} {
		a.announceWith(frame.DefaultLimits(), bad)
		a.settle()
		after := s.Health()[0]
		require.Equal(t, [3]any{before.Healthy, before.Caps, before.LastError}, [3]any{after.Healthy, after.Caps, after.LastError}, bad)
		require.Len(t, s.Capabilities(), 2)
	}
	// One that was refused is not what the next is compared with.
	a.announce(identity)
	a.settle()
	require.Equal(t, []string{identity}, s.Capabilities())
	a.announce(echoCap)
	a.announce(echoCap, identity)
	a.settle()
	require.Len(t, s.Capabilities(), 2)
}

func TestAMasterWithoutCapsStaysAndIsCheckedWhenItHasSome(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a, b := join(t, s, "a", identity, echoCap), join(t, s, "b", identity, hashCap)
	c, req := open(t, s, a, "cap:echo")
	a.announce()
	a.settle()
	require.True(t, s.Health()[0].Healthy)
	require.Equal(t, 0, s.Health()[0].Caps)

	a.announce(identity, echoCap)
	check := a.expect(frame.TypeReq)
	require.Equal(t, identity, string(check.Cap))
	require.Equal(t, "identity-verify-runtime", string(a.expect(frame.TypeStreamStart).StreamID))
	chunk := a.expect(frame.TypeChunk)
	require.Equal(t, nonce, string(chunk.Payload))
	a.expect(frame.TypeStreamEnd)
	a.expect(frame.TypeEnd)
	// Nothing is routed there until it has passed, and frames flow meanwhile.
	health := s.Health()[0]
	require.False(t, health.Healthy)
	require.Contains(t, *health.LastError, "identity check")
	_, err := s.Open(t.Context(), call.Request{Cap: "cap:echo"})
	require.ErrorIs(t, err, route.ErrNoHandler)
	a.peer("cap:hash", frame.ID{})
	b.expect(frame.TypeReq)
	log, err := frame.NewLog(req.ID, frame.LogInfo{Level: []byte("info"), Message: []byte("x"), Attribution: frame.AttributionInternal})
	require.NoError(t, err)
	a.send(routed(log, req.RoutingID))
	next(t, c, frame.TypeLog)

	a.send(routed(frame.NewCredit(check.ID, nil, 1, frame.RequestDirection), check.RoutingID))
	a.echo(check, nonce)
	require.NoError(t, s.WaitForCap(t.Context(), "cap:echo"))
	require.True(t, s.Health()[0].Healthy)
	require.Nil(t, s.Health()[0].LastError)
	require.Equal(t, map[stats.Kind]uint64{stats.KindEnd: 1}, kinds(s))
	require.Zero(t, s.Stats().Drops.Total)
}

func TestARunTimeCheckThatFailsLeavesTheMasterUnhealthy(t *testing.T) {
	for name, answer := range map[string]func(h *host, check *frame.Frame){
		"another answer": func(h *host, check *frame.Frame) { h.echo(check, "no") },
		"an ERR":         func(h *host, check *frame.Frame) { h.fail(check, "NO_GOOD") },
		"no answer":      func(h *host, check *frame.Frame) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := route.New(t.Context(), nil, &route.Options{AllowEmptyHosts: true})
				require.NoError(t, err)
				defer s.Close()
				near, far := pipes()
				h := joinOver(t, s, "a", near, far, func(h *host) { h.announce() })
				h.announce(identity, echoCap)
				began := time.Now()
				check := h.expect(frame.TypeReq)
				for range 4 {
					h.next()
				}
				answer(h, check)
				if name == "no answer" {
					f := h.expect(frame.TypeCancel)
					require.Equal(t, 10*time.Second, time.Since(began))
					require.Equal(t, "ABORTED", string(f.CancelReason().Code))
				}
				synctest.Wait()
				health := s.Health()[0]
				require.False(t, health.Healthy)
				require.True(t, health.Attached)
				require.Equal(t, 2, health.Caps)
				require.NotContains(t, *health.LastError, "under way")
				require.Empty(t, s.Capabilities())
				require.Empty(t, s.Stats().Requests.Active)
				// The next change from none to some is checked anew.
				h.announce()
				h.announce(identity)
				h.settleAround(func() { h.echo(h.identify(), nonce) })
				synctest.Wait()
				require.True(t, s.Health()[0].Healthy)
			})
		})
	}
}

// settleAround is for a host that has frames to read first.
func (h *host) settleAround(do func()) {
	do()
	h.settle()
}

func TestACheckThatIsPendingIsMootWhenTheCapsGo(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, &route.Options{AllowEmptyHosts: true})
	a := join(t, s, "a")
	a.announce(identity)
	first := a.identify()
	a.announce()
	a.settle()
	require.True(t, s.Health()[0].Healthy)
	a.announce(identity, echoCap)
	second := a.identify()
	a.echo(first, nonce) // of the first check: it says nothing of the second
	a.settle()
	require.False(t, s.Health()[0].Healthy)
	a.echo(second, nonce)
	require.NoError(t, s.WaitForCap(t.Context(), "cap:echo"))
}

func TestLimitsOfANotifyThatCannotBeReadStay(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	limits := frame.DefaultLimits()
	limits.MaxChunk = 4096
	near, far := sockets(t)
	a := joinOver(t, s, "a", near, far, func(h *host) {
		h.announceWith(limits, manifestOf(identity))
		h.echo(h.identify(), nonce)
	})
	var m frame.MetaBuilder
	m.Bytes("manifest", []byte(manifestOf(identity, hashCap)))
	m.Int("max_frame", -1)
	f := frame.Frame{Type: frame.TypeRelayNotify, ID: frame.Number(0)}
	f.Meta, _ = m.Meta()
	a.send(f)
	a.settle()
	require.Equal(t, limits, s.Limits())
	require.Len(t, s.Capabilities(), 2)
	// And the other way round.
	m.Reset()
	m.Uint("max_frame", 1<<20)
	m.Uint("max_chunk", 1<<10)
	m.Uint("max_reorder_buffer", 3)
	f.Meta, _ = m.Meta()
	a.send(f)
	a.settle()
	require.Equal(t, frame.Limits{MaxFrame: 1 << 20, MaxChunk: 1 << 10, MaxReorderBuffer: 3, InitialCredit: 32}, s.Limits())
	require.Len(t, s.Capabilities(), 2)
}

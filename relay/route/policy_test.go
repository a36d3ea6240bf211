package route_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// Requirement: PO1
func TestAPolicyReachesEveryMasterAtEveryChange(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, &route.Options{AllowEmptyHosts: true})
	a := join(t, s, "a", identity)
	b := join(t, s, "b") // without caps
	b.announce(identity)
	b.identify() // and with a check that is pending: its socket is open
	requirePolicy := func(h *host, want string) {
		t.Helper()
		f := h.expect(frame.TypePolicy)
		require.Equal(t, frame.Number(0), f.ID)
		require.Zero(t, f.Seq)
		require.Equal(t, want, string(f.Payload))
	}
	a.nothing(s, "a") // there was none

	require.NoError(t, s.SetPolicy(&route.Policy{Payload: []byte("one")}))
	requirePolicy(a, "one")
	requirePolicy(b, "one")
	require.NoError(t, s.SetPolicy(&route.Policy{Payload: []byte("one")})) // no change
	require.NoError(t, s.SetPolicy(&route.Policy{Payload: []byte("two")}))
	requirePolicy(a, "two")
	requirePolicy(b, "two")
	a.announce(identity, echoCap) // brings no new one
	a.settle()
	a.nothing(s, "a")

	// One that joins gets the newest first, also while it joins.
	near, far := sockets(t)
	c := joinOver(t, s, "c", near, far, func(h *host) {
		h.announce(identity)
		requirePolicy(h, "two")
		req := h.identify()
		require.NoError(t, s.SetPolicy(&route.Policy{Payload: []byte("three")}))
		requirePolicy(h, "three")
		h.echo(req, nonce)
	})
	requirePolicy(a, "three")
	// Meta goes with it.
	var m frame.MetaBuilder
	m.Text("issuer", "me")
	meta, err := m.Meta()
	require.NoError(t, err)
	require.NoError(t, s.SetPolicy(&route.Policy{Meta: meta}))
	for _, h := range []*host{a, c} {
		f := h.expect(frame.TypePolicy)
		require.Nil(t, f.Payload)
		issuer, _ := f.Meta.Text("issuer")
		require.Equal(t, "me", string(issuer))
	}
	// After none was set, who joins gets none.
	require.NoError(t, s.SetPolicy(nil))
	a.nothing(s, "a")
	join(t, s, "d", identity)
	// And one that comes back gets it again.
	require.NoError(t, s.SetPolicy(&route.Policy{Payload: []byte("four")}))
	a.conn.Close()
	awaitHealth(t, s, "a", false)
	near, far = sockets(t)
	joinOver(t, s, "a", near, far, func(h *host) {
		h.announce(identity)
		requirePolicy(h, "four")
		h.echo(h.identify(), nonce)
	})
}

func TestAPolicyThatIsTooLongForAHostIsAnError(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	limits := frame.DefaultLimits()
	limits.MaxFrame = 1000
	near, far := sockets(t)
	small := joinOver(t, s, "small", near, far, func(h *host) {
		h.announceWith(limits, manifestOf(identity))
		h.echo(h.identify(), nonce)
	})
	large := join(t, s, "large", identity)
	require.ErrorIs(t, s.SetPolicy(&route.Policy{Payload: make([]byte, 2000)}), frame.ErrFrameTooLarge)
	large.expect(frame.TypePolicy)
	small.nothing(s, "small")
	require.True(t, s.Health()[0].Healthy)
}

// Requirement: ST1
func TestAStateReachesOneMasterAlone(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a, b := join(t, s, "a", identity), join(t, s, "b", identity)
	require.NoError(t, s.SendState("b", nil))
	f := b.expect(frame.TypeRelayState)
	require.Equal(t, frame.Number(0), f.ID)
	require.NotNil(t, f.Payload)
	require.Empty(t, f.Payload)
	require.NoError(t, s.SendState("b", []byte{0xff, 0, 1}))
	require.Equal(t, []byte{0xff, 0, 1}, b.expect(frame.TypeRelayState).Payload)
	a.nothing(s, "a")
	require.ErrorIs(t, s.SendState("c", nil), route.ErrUnknownMaster)
	require.ErrorIs(t, s.SendState("a", make([]byte, 4<<20)), frame.ErrFrameTooLarge)
}

func TestCapacitiesAreSentAsAState(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	near, far := sockets(t)
	a := joinOver(t, s, "a", near, far, func(h *host) {
		h.announceWith(frame.DefaultLimits(), recordsOf(
			record{id: "demo", caps: []string{identity, hashCap}, running: true, pools: map[string]int{"all": 2}},
			record{id: "bad", failed: "disabled"}))
		h.echo(h.identify(), nonce)
	})
	require.NoError(t, s.SetCapacities("a", "demo", map[string]uint64{"all": 4}))
	f := a.expect(frame.TypeRelayState)
	require.JSONEq(t, `{"desired_capacities": {"cartridge_id": "demo", "capacities": {"all": 4}}}`, string(f.Payload))
	for _, err := range []error{
		s.SetCapacities("a", "demo", map[string]uint64{"all": 4, "other": 1}),
		s.SetCapacities("a", "bad", map[string]uint64{"all": 4}),
		s.SetCapacities("a", "nobody", map[string]uint64{}),
	} {
		require.ErrorIs(t, err, route.ErrProtocol)
	}
	require.ErrorIs(t, s.SetCapacities("b", "demo", nil), route.ErrUnknownMaster)
	a.nothing(s, "a")
}

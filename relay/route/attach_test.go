package route_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

func TestAMasterThatWasLostIsReattachedInItsPlace(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a, b := join(t, s, "a", identity, echoCap), join(t, s, "b", identity, hashCap)
	require.False(t, s.AcceptsAttach("a"))
	require.True(t, s.AcceptsAttach("c"))
	_, old := open(t, s, a, "cap:echo")
	a.conn.Close()
	awaitHealth(t, s, "a", false)
	require.True(t, s.AcceptsAttach("a"))

	again := join(t, s, "a", identity, sortCap) // numbers start anew: the host asserts them
	health := s.Health()
	require.Len(t, health, 2)
	require.Equal(t, "a", health[0].ID)
	require.True(t, health[0].Healthy)
	require.Nil(t, health[0].LastError)
	_, err := s.Open(t.Context(), call.Request{Cap: "cap:echo"})
	require.ErrorIs(t, err, route.ErrNoHandler)
	_, req := open(t, s, again, "cap:sort")
	// A response to a request of the lost connection is late.
	again.end(old)
	again.end(req)
	again.expect(frame.TypeEnd) // of the body, which the engine never ended
	again.settle()
	require.EqualValues(t, 1, s.Stats().Stragglers.Total)
	require.Zero(t, s.Stats().Drops.Total)
	open(t, s, b, "cap:hash")
}

// awaitHealth waits until a master is healthy, or not.
func awaitHealth(t testing.TB, s *route.Switch, id string, want bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(s.Health(), func(h route.MasterHealth) bool {
			return h.ID == id && h.Healthy == want && h.Attached == want
		})
	}, patience, time.Millisecond, "master %q: healthy is never %v", id, want)
}

func TestASocketForAMasterThatIsAttachedIsRefused(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, &route.Options{IdentityLimit: time.Millisecond})
	near, far := sockets(t)
	joinOver(t, s, "a", near, far, func(h *host) { h.announce(identity); h.identify() })
	require.False(t, s.Health()[0].Healthy) // and attached all the same
	require.True(t, s.Health()[0].Attached)
	require.False(t, s.AcceptsAttach("a"))
	near, far = sockets(t)
	_, err := s.AddMaster(t.Context(), "a", near)
	require.ErrorIs(t, err, route.ErrAttached)
	newHost(t, far).ends()
}

func TestAHostThatFailsItsIdentityCheckJoinsUnhealthy(t *testing.T) {
	for name, do := range map[string]func(h *host){
		"another answer": func(h *host) {
			h.announceWith(frame.DefaultLimits(), recordsOf(record{id: "x", caps: []string{identity}}))
			h.echo(h.identify(), "other")
		},
		"an end": func(h *host) {
			h.announceWith(frame.DefaultLimits(), recordsOf(record{id: "x", caps: []string{identity}}))
			h.identify()
			h.conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			s := newSwitch(t, nil)
			near, far := sockets(t)
			h := joinOver(t, s, "a", near, far, do)
			health := s.Health()[0]
			require.False(t, health.Healthy)
			require.NotNil(t, health.LastError)
			require.Empty(t, s.Capabilities())
			require.Len(t, s.Inventory(), 1, "the inventory has all masters")
			_, err := s.Open(t.Context(), call.Request{Cap: identity})
			require.ErrorIs(t, err, route.ErrAllMastersUnhealthy)
			require.ErrorIs(t, err, &call.Error{Code: "NO_HANDLER"})
			if health.Attached { // it is served as others are
				h.settle()
			}
		})
	}
}

func TestABadFirstFrameLeavesAMasterAsItWas(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a := join(t, s, "a", identity, echoCap)
	a.conn.Close()
	awaitHealth(t, s, "a", false)
	before := s.Health()
	near, far := sockets(t)
	h := newHost(t, far)
	h.announce(echoCap)
	_, err := s.AddMaster(t.Context(), "a", near)
	require.ErrorIs(t, err, frame.ErrProtocol)
	require.Equal(t, before, s.Health())
	require.True(t, s.AcceptsAttach("a"))
	h.ends()
}

func TestAnEmptyIDIsRefused(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	near, far := sockets(t)
	_, err := s.AddMaster(t.Context(), "", near)
	require.ErrorIs(t, err, route.ErrProtocol)
	newHost(t, far).ends()
}

// A late answer to a check that was given up is late, and nothing else.
func TestTheIdentityCheckOfAMasterHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := route.New(t.Context(), nil, nil)
		require.NoError(t, err)
		defer s.Close()
		near, far := pipes()
		began := time.Now()
		var req *frame.Frame
		h := joinOver(t, s, "a", near, far, func(h *host) { h.announce(identity); req = h.identify() })
		require.Equal(t, 30*time.Second, time.Since(began))
		require.Contains(t, *s.Health()[0].LastError, "not answered in time")
		h.echo(req, nonce)
		h.settle()
		require.EqualValues(t, 4, s.Stats().Stragglers.Total)
		require.Zero(t, s.Stats().Drops.Total)
		require.False(t, s.Health()[0].Healthy)
	})
}

func TestAHostThatHangsHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := route.New(t.Context(), nil, nil)
		require.NoError(t, err)
		defer s.Close()
		near, far := pipes()
		hung := newHost(t, far)
		result := make(chan error, 1)
		go func() {
			_, err := s.AddMaster(t.Context(), "hung", near)
			result <- err
		}()
		synctest.Wait()
		// Others join at once.
		began := time.Now()
		near, far = pipes()
		joinOver(t, s, "a", near, far, func(h *host) { h.hello(identity) })
		require.Zero(t, time.Since(began))
		// One of the same id waits for its turn.
		near, far = pipes()
		second := newHost(t, far)
		second.announce(identity)
		go func() {
			_, err := s.AddMaster(t.Context(), "hung", near)
			result <- err
		}()
		synctest.Wait()
		require.False(t, s.AcceptsAttach("hung"))
		require.ErrorContains(t, <-result, "did not announce itself")
		require.Equal(t, 30*time.Second, time.Since(began))
		second.echo(second.identify(), nonce)
		require.NoError(t, <-result)
		hung.ends()
	})
}

func TestTheContextEndsAJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := route.New(t.Context(), nil, nil)
		require.NoError(t, err)
		defer s.Close()
		for _, do := range []func(h *host){func(*host) {}, func(h *host) { h.announce(identity); h.identify() }} {
			near, far := pipes()
			h := newHost(t, far)
			go do(h)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err = s.AddMaster(ctx, "a", near)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			cancel()
			synctest.Wait()
			h.ends()
			require.Empty(t, s.Health())
			require.True(t, s.AcceptsAttach("a"))
		}
	})
}

func TestClosingTheSwitchEndsAJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, do := range []func(h *host){func(*host) {}, func(h *host) { h.announce(identity); h.identify() }} {
			s, err := route.New(t.Context(), nil, nil)
			require.NoError(t, err)
			near, far := pipes()
			h := newHost(t, far)
			go do(h)
			result := make(chan error, 1)
			go func() {
				_, err := s.AddMaster(t.Context(), "a", near)
				result <- err
			}()
			synctest.Wait()
			s.Close()
			require.ErrorIs(t, <-result, route.ErrClosed)
			h.ends()
			near, _ = pipes()
			_, err = s.AddMaster(t.Context(), "b", near)
			require.ErrorIs(t, err, route.ErrClosed)
		}
	})
}

package route_test

import (
	"context"
	"io"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// Requirements: W1, W2
func TestTheBestOfAllMastersServesARequest(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	const (
		plain  = `cap:extract;in="media:";out="media:enc=utf-8"`
		pdf    = `cap:extract;in="media:ext=pdf";out="media:enc=utf-8"`
		pdfToo = `cap:extract;in="media:ext=pdf";out="media:enc=utf-8"`
	)
	hosts := []*host{
		join(t, s, "a", identity, plain),
		join(t, s, "b", identity, pdf),
		join(t, s, "c", identity, pdfToo),
		join(t, s, "d", identity, `cap:extract;in="media:";out="media:enc=utf-8";quick`),
	}
	for _, test := range []struct {
		cap, preferred string
		index          int
		registered     string
	}{
		{pdf, "", 1, pdf},           // the nearest, and of equals the first
		{plain, "", 0, plain},       // nothing else takes it
		{pdf, plain, 0, plain},      // the preferred one comes first
		{pdf, "cap:nobody", 1, pdf}, // but only if it can serve the request
		{pdf, "no cap", 1, pdf},     //
		{`cap:extract;in="media:ext=pdf";out="media:enc=utf-8";quick`, "", 3, `cap:extract;in="media:";out="media:enc=utf-8";quick`},
		{identity, "", 0, identity},
	} {
		index, registered, ok := s.Find(test.cap, test.preferred)
		require.True(t, ok, test.cap)
		require.Equal(t, test.index, index, "%+v", test)
		require.Equal(t, canonical(test.registered), registered)
		l, err := s.Open(t.Context(), call.Request{Cap: test.cap, Preferred: test.preferred})
		require.NoError(t, err)
		req := hosts[test.index].expect(frame.TypeReq)
		hosts[test.index].end(req)
		next(t, l, frame.TypeEnd)
		hosts[test.index].expect(frame.TypeEnd)
		l.Close()
		f := frame.NewReq(frame.NewUUID(), []byte(test.cap))
		require.NoError(t, s.Send(t.Context(), &f, test.preferred))
		require.Equal(t, f.ID, hosts[test.index].expect(frame.TypeReq).ID)
	}
	for _, cap := range []string{"cap:nobody", "no cap", ""} {
		_, _, ok := s.Find(cap, "")
		require.False(t, ok)
		_, err := s.Open(t.Context(), call.Request{Cap: cap})
		require.ErrorIs(t, err, route.ErrNoHandler)
		require.ErrorIs(t, err, &call.Error{Code: "NO_HANDLER"})
	}
	// When one dies the next best takes over, and gives way when it is back: ties keep their order.
	hosts[1].conn.Close()
	awaitHealth(t, s, "b", false)
	index, _, _ := s.Find(pdf, "")
	require.Equal(t, 2, index)
	join(t, s, "b", identity, pdf)
	index, _, _ = s.Find(pdf, "")
	require.Equal(t, 1, index)
}

func TestLimitsAreTheSmallestOfHealthyMasters(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	with := func(id string, l frame.Limits) *host {
		near, far := sockets(t)
		return joinOver(t, s, id, near, far, func(h *host) {
			h.announceWith(l, manifestOf(identity))
			h.echo(h.identify(), nonce)
		})
	}
	with("a", frame.Limits{MaxFrame: 5 << 20, MaxChunk: 100, MaxReorderBuffer: 8, InitialCredit: 40})
	b := with("b", frame.Limits{MaxFrame: 1 << 20, MaxChunk: 200, MaxReorderBuffer: 4, InitialCredit: 50})
	require.Equal(t, frame.Limits{MaxFrame: 1 << 20, MaxChunk: 100, MaxReorderBuffer: 4, InitialCredit: 40}, s.Limits())
	b.conn.Close()
	awaitHealth(t, s, "b", false)
	require.Equal(t, frame.Limits{MaxFrame: 5 << 20, MaxChunk: 100, MaxReorderBuffer: 8, InitialCredit: 40}, s.Limits())
}

func TestAWatcherGetsThePresentValueFirstAndEveryChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := route.New(t.Context(), nil, nil)
		require.NoError(t, err)
		join := func(id string, urns ...string) *host {
			near, far := pipes()
			return joinOver(t, s, id, near, far, func(h *host) { h.hello(urns...) })
		}
		a := join("a", identity, echoCap)
		ctx, cancel := context.WithCancel(t.Context())
		changes, stop := iter.Pull(s.WatchCapabilities(ctx))
		defer stop()
		next := func() []string {
			v, ok := changes()
			require.True(t, ok)
			return v
		}
		both := []string{canonical(echoCap), identity}
		require.Equal(t, both, next())
		// What is no real change is not told, and what is slow sees the newest.
		join("b", identity, echoCap)
		a.announce(echoCap, identity)
		a.settle()
		c := join("c", identity, hashCap)
		require.Equal(t, []string{canonical(echoCap), identity, canonical(hashCap)}, next())
		c.conn.Close()
		synctest.Wait()
		require.Equal(t, both, next())
		a.announce()
		a.settle()
		cancel()
		_, ok := changes()
		require.False(t, ok)

		// The end of the switch ends watchers and waiters.
		ended := make(chan error, 2)
		go func() {
			for range s.WatchCapabilities(t.Context()) {
			}
			ended <- nil
		}()
		go func() { ended <- s.WaitForCap(t.Context(), "cap:never") }()
		synctest.Wait()
		s.Close()
		for range 2 {
			if err := <-ended; err != nil {
				require.ErrorIs(t, err, route.ErrClosed)
			}
		}
	})
}

func TestWaitingForACapAndForAllMasters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := route.New(t.Context(), nil, &route.Options{AllowEmptyHosts: true})
		require.NoError(t, err)
		defer s.Close()
		require.False(t, s.AllReady(), "nothing is expected")
		found, ready := make(chan error, 1), make(chan error, 1)
		go func() { found <- s.WaitForCap(t.Context(), "cap:echo") }()
		s.Expect(2)
		go func() { ready <- s.WaitReady(t.Context()) }()
		join := func(id string, urns ...string) *host {
			near, far := pipes()
			return joinOver(t, s, id, near, far, func(h *host) { h.hello(urns...) })
		}
		a := join("a", identity)
		synctest.Wait()
		require.Empty(t, found)
		require.Empty(t, ready)
		join("b") // has no caps, which it need not
		require.NoError(t, <-ready)
		require.True(t, s.AllReady())
		a.announce(identity, echoCap)
		require.NoError(t, <-found)
		a.conn.Close()
		synctest.Wait()
		require.False(t, s.AllReady())
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(io.ErrNoProgress)
		require.ErrorIs(t, s.WaitReady(ctx), io.ErrNoProgress)
		require.ErrorIs(t, s.WaitForCap(ctx, "cap:echo"), io.ErrNoProgress)
	})
}

func TestTheInventoryHasAllMastersInOrder(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	with := func(id string, records ...map[string]any) *host {
		near, far := sockets(t)
		return joinOver(t, s, id, near, far, func(h *host) {
			h.announceWith(frame.DefaultLimits(), jsonOf(records...))
			h.echo(h.identify(), nonce)
		})
	}
	published := record{id: "pub", caps: []string{identity}}.json()
	published["registry_url"] = "https://example.org"
	nightly := record{id: "aaa", caps: []string{identity}}.json()
	nightly["channel"] = "nightly"
	a := with("a", published, record{id: "zzz", caps: []string{identity}}.json())
	with("b", record{id: "zzz", caps: []string{identity}}.json(), nightly, record{id: "bad", failed: "disabled"}.json(),
		record{id: "zzz", version: "0.9", caps: []string{echoCap}}.json())
	a.conn.Close()
	awaitHealth(t, s, "a", false)
	var got []string
	for _, r := range s.Inventory() {
		got = append(got, r.Install.Registry+"/"+r.Install.String())
	}
	require.Equal(t, []string{
		"/aaa 1.0.0 (nightly)", "/bad 1.0.0 (release)", "/zzz 0.9 (release)", "/zzz 1.0.0 (release)",
		"https://example.org/pub 1.0.0 (release)",
	}, got)
}

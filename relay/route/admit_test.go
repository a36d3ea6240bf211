package route_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/route"
)

// bubble makes a switch in a bubble with one master, whose host has records.
func bubble(t *testing.T, o *route.Options, records ...record) (*route.Switch, *host) {
	s, err := route.New(t.Context(), nil, o)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s, joinRecords(t, s, "a", records...)
}

func joinRecords(t *testing.T, s *route.Switch, id string, records ...record) *host {
	near, far := pipes()
	return joinOver(t, s, id, near, far, func(h *host) {
		h.announceWith(frame.DefaultLimits(), recordsOf(records...))
		h.echo(h.identify(), nonce)
	})
}

// opening is a call of Open that may wait.
type opening struct {
	link   call.Link
	err    error
	done   chan struct{}
	cancel context.CancelFunc
}

func openLater(t *testing.T, s *route.Switch, cap string) *opening {
	ctx, cancel := context.WithCancel(t.Context())
	o := &opening{done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(o.done)
		o.link, o.err = s.Open(ctx, call.Request{Cap: cap})
	}()
	synctest.Wait()
	return o
}

func (o *opening) waits() bool {
	synctest.Wait()
	select {
	case <-o.done:
		return false
	default:
		return true
	}
}

func TestRequestsWaitUntilTheirCartridgeHasRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := bubble(t, nil, record{id: "demo", caps: []string{identity, echoCap, hashCap}, running: true,
			pools: map[string]int{"all": 2, canonical(echoCap): 1}})
		first := openLater(t, s, "cap:echo")
		require.False(t, first.waits())
		req := h.expect(frame.TypeReq)
		second, third := openLater(t, s, "cap:echo"), openLater(t, s, "cap:echo")
		require.True(t, second.waits() && third.waits())
		// Another cap of the cartridge has a queue of its own.
		other := openLater(t, s, "cap:hash")
		require.False(t, other.waits())
		otherReq := h.expect(frame.TypeReq)
		full := openLater(t, s, "cap:hash")
		require.True(t, full.waits(), "two run in all")
		full.cancel()
		require.False(t, full.waits())
		require.ErrorIs(t, full.err, context.Canceled)

		// Oldest first, each time one ends, in whatever way.
		h.end(req)
		h.expect(frame.TypeEnd)
		require.False(t, second.waits())
		require.True(t, third.waits())
		h.expect(frame.TypeReq)
		require.NoError(t, second.link.Cancel(false, byUser))
		h.expect(frame.TypeCancel)
		require.False(t, third.waits())
		h.expect(frame.TypeReq)
		h.end(otherReq)
		h.expect(frame.TypeEnd)
		// A peer call is never queued behind itself.
		for range 5 {
			h.peer("cap:echo", frame.ID{})
			h.expect(frame.TypeReq)
		}
		for _, o := range []*opening{first, second, third, other} {
			o.link.Close()
		}
	})
}

func TestACartridgeThatDoesNotRunGetsOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := bubble(t, nil, record{id: "demo", caps: []string{identity, echoCap}})
		first, second := openLater(t, s, "cap:echo"), openLater(t, s, "cap:echo")
		require.False(t, first.waits())
		require.True(t, second.waits())
		h.expect(frame.TypeReq)
		// It runs now, without a bound.
		h.announceWith(frame.DefaultLimits(), recordsOf(record{id: "demo", caps: []string{identity, echoCap}, running: true}))
		require.False(t, second.waits())
		h.expect(frame.TypeReq)
		first.link.Close()
		second.link.Close()
	})
}

func TestACartridgeWithoutFiguresHasNoBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := bubble(t, nil, record{id: "demo", caps: []string{identity, echoCap}, bare: true})
		for range 3 {
			o := openLater(t, s, "cap:echo")
			require.False(t, o.waits())
			defer o.link.Close()
		}
	})
}

func TestBoundsThatGoLetAllIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := bubble(t, nil, record{id: "demo", caps: []string{identity, echoCap}})
		first, second := openLater(t, s, "cap:echo"), openLater(t, s, "cap:echo")
		require.True(t, second.waits())
		h.announceWith(frame.DefaultLimits(), recordsOf(record{id: "demo", caps: []string{identity, echoCap}, bare: true}))
		require.False(t, second.waits())
		first.link.Close()
		second.link.Close()
	})
}

func TestRecordsWithAnErrorCostNobodyAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := bubble(t, nil,
			record{id: "bad", caps: []string{hashCap}, failed: "handshake_failed"},
			record{id: "demo", caps: []string{identity, echoCap}, running: true})
		require.Equal(t, []string{canonical(echoCap), identity}, s.Capabilities())
		o := openLater(t, s, "cap:echo")
		require.False(t, o.waits())
		h.expect(frame.TypeReq)
		o.link.Close()
		o = openLater(t, s, "cap:hash")
		require.ErrorIs(t, o.err, route.ErrNoHandler)
	})
}

func TestACapThatTwoCartridgesOfAHostClaimIsAmbiguous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := bubble(t, nil,
			record{id: "one", caps: []string{identity, echoCap}, running: true},
			record{id: "two", caps: []string{echoCap}, running: true},
			record{id: "one", caps: []string{identity, echoCap}, running: true}) // again: a second process
		o := openLater(t, s, "cap:echo")
		require.ErrorIs(t, o.err, route.ErrProtocol)
		require.ErrorContains(t, o.err, "ambiguous")
		o = openLater(t, s, identity)
		require.NoError(t, o.err)
		h.expect(frame.TypeReq)
		o.link.Close()
	})
}

func TestARunningCartridgeWithoutPoolsIsAViolation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := route.New(t.Context(), nil, nil)
		require.NoError(t, err)
		defer s.Close()
		near, far := pipes()
		joinOver(t, s, "a", near, far, func(h *host) {
			r := record{id: "demo", caps: []string{identity, echoCap}, running: true}.json()
			r["runtime_stats"].(map[string]any)["pools"] = map[string]any{"all": map[string]int{"declared": 0, "configured": 0, "active": 0, "queued": 0}}
			h.announceWith(frame.DefaultLimits(), jsonOf(r))
			h.echo(h.identify(), nonce)
		})
		o := openLater(t, s, "cap:echo")
		require.ErrorIs(t, o.err, route.ErrProtocol)
	})
}

// A cartridge that vanished has a minute to come back.
func TestWaitingRequestsOutliveAnOutage(t *testing.T) {
	for name, test := range map[string]struct {
		leave    func(t *testing.T, s *route.Switch, h *host)
		comeBack func(t *testing.T, s *route.Switch, h *host) *host
	}{
		"the cartridge is not announced": {
			func(t *testing.T, s *route.Switch, h *host) {
				h.announceWith(frame.DefaultLimits(), recordsOf(record{id: "other", caps: []string{identity}, running: true}))
			},
			func(t *testing.T, s *route.Switch, h *host) *host {
				h.announceWith(frame.DefaultLimits(), recordsOf(record{id: "demo", caps: []string{identity, echoCap}, running: true}))
				return h
			},
		},
		"the master died": {
			func(t *testing.T, s *route.Switch, h *host) { h.conn.Close() },
			func(t *testing.T, s *route.Switch, h *host) *host {
				return joinRecords(t, s, "a", record{id: "demo", caps: []string{identity, echoCap}, running: true})
			},
		},
	} {
		for _, inTime := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, h := bubble(t, nil, record{id: "demo", caps: []string{identity, echoCap}, running: true, pools: map[string]int{"all": 1}})
					first := openLater(t, s, "cap:echo")
					defer first.link.Close()
					h.expect(frame.TypeReq)
					second := openLater(t, s, "cap:echo")
					require.True(t, second.waits())
					test.leave(t, s, h)
					synctest.Wait()
					_, err := s.Open(t.Context(), call.Request{Cap: "cap:echo"})
					require.Error(t, err)
					time.Sleep(59 * time.Second)
					require.True(t, second.waits())
					if inTime {
						h = test.comeBack(t, s, h)
						require.False(t, second.waits())
						require.NoError(t, second.err)
						h.expect(frame.TypeReq)
						second.link.Close()
						return
					}
					began := time.Now()
					<-second.done
					require.Equal(t, time.Second, time.Since(began))
					require.ErrorIs(t, second.err, route.ErrCartridgeUnavailable)
					require.ErrorIs(t, second.err, &call.Error{Code: "CARTRIDGE_UNAVAILABLE"})
				})
			})
		}
	}
}

// While a host is not verified nobody is let in.
func TestAnOutageGoesOnUntilTheHostIsVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record{id: "demo", caps: []string{identity, echoCap}, running: true, pools: map[string]int{"all": 1}}
		s, h := bubble(t, nil, r)
		first := openLater(t, s, "cap:echo")
		defer first.link.Close()
		h.expect(frame.TypeReq)
		second := openLater(t, s, "cap:echo")
		h.announce()
		h.announceWith(frame.DefaultLimits(), recordsOf(r))
		check := h.identify()
		first.link.Cancel(false, byUser) // makes room
		h.expect(frame.TypeCancel)
		require.True(t, second.waits())
		h.echo(check, nonce)
		require.False(t, second.waits())
		require.NoError(t, second.err)
		h.expect(frame.TypeReq)
		second.link.Close()
	})
}

// Who was let in where it is not to go any more waits where it is.
func TestARequestTakesItsPlaceWhereItGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record{id: "demo", caps: []string{identity, echoCap}, running: true, pools: map[string]int{"all": 1}}
		s, a := bubble(t, nil, r)
		b := joinRecords(t, s, "b", r)
		a.conn.Close()
		synctest.Wait()
		first, second := openLater(t, s, "cap:echo"), openLater(t, s, "cap:echo")
		onB := b.expect(frame.TypeReq)
		a = joinRecords(t, s, "a", r)
		third := openLater(t, s, "cap:echo")
		onA := a.expect(frame.TypeReq)
		b.end(onB)
		b.expect(frame.TypeEnd)
		require.True(t, second.waits(), "a comes first again, and is full")
		a.end(onA)
		a.expect(frame.TypeEnd)
		require.False(t, second.waits())
		a.expect(frame.TypeReq)
		fourth := openLater(t, s, "cap:echo")
		require.True(t, fourth.waits())
		fourth.cancel()
		b.nothing(s, "b")
		for _, o := range []*opening{first, second, third} {
			o.link.Close()
		}
	})
}

func TestARequestForACartridgeIsAdmittedThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := bubble(t, nil, record{id: "demo", caps: []string{identity, echoCap}, running: true, pools: map[string]int{canonical(echoCap): 1}})
		first := openLater(t, s, "cap:echo")
		defer first.link.Close()
		h.expect(frame.TypeReq)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.Open(ctx, call.Request{Cap: "cap:echo", Cartridge: "demo"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		l, err := s.Open(t.Context(), call.Request{Cap: identity, Cartridge: "demo"})
		require.NoError(t, err)
		l.Close()
	})
}

func TestTheGraceIsAnOption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := bubble(t, &route.Options{Grace: 5 * time.Second}, record{id: "demo", caps: []string{identity, echoCap}})
		first := openLater(t, s, "cap:echo")
		defer first.link.Close()
		second := openLater(t, s, "cap:echo")
		began := time.Now()
		h.announceWith(frame.DefaultLimits(), recordsOf(record{id: "other", caps: []string{identity}}))
		<-second.done
		require.ErrorIs(t, second.err, route.ErrCartridgeUnavailable)
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}

func TestClosingTheSwitchEndsTheWaitForAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := bubble(t, nil, record{id: "demo", caps: []string{identity, echoCap}})
		first, second := openLater(t, s, "cap:echo"), openLater(t, s, "cap:echo")
		h.expect(frame.TypeReq)
		require.True(t, second.waits())
		s.Close()
		require.False(t, second.waits())
		require.ErrorIs(t, second.err, route.ErrClosed)
		first.link.Close()
	})
}

// Cartridges that come and go for ever leave nothing behind.
func TestPoolsOfCartridgesThatAreGoneAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := bubble(t, nil, record{id: "demo", caps: []string{identity}, running: true})
		for i := range 20 {
			h.announceWith(frame.DefaultLimits(), recordsOf(record{id: "demo", version: string(rune('a' + i)), caps: []string{identity}, running: true}))
			time.Sleep(61 * time.Second)
		}
		h.settle()
		require.LessOrEqual(t, route.PoolsOf(s), 3)
	})
}

// A frame for a master that takes nothing waits outside of the tables.
func TestAMasterThatTakesNothingHoldsUpWhoSendsToItUntilItDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := route.New(t.Context(), nil, &route.Options{MaxQueued: 1 << 20})
		require.NoError(t, err)
		defer s.Close()
		join := func(id string, urns ...string) *host {
			near, far := pipes()
			return joinOver(t, s, id, near, far, func(h *host) { h.hello(urns...) })
		}
		stalled, b, c := join("stalled", identity, echoCap), join("b", identity, hashCap), join("c", identity, sortCap)
		toStalled, err := s.Open(t.Context(), call.Request{Cap: "cap:echo"})
		require.NoError(t, err)
		defer toStalled.Close()
		began := time.Now()
		result := make(chan error, 1)
		go func() {
			for {
				f := frame.NewChunk(frame.ID{}, []byte("x"), 0, make([]byte, 100_000), 0)
				if err := toStalled.Send(t.Context(), &f); err != nil {
					result <- err
					return
				}
			}
		}()
		// A host that floods it waits too.
		peer := b.peer("cap:echo", frame.ID{})
		flooded := make(chan struct{})
		go func() {
			defer close(flooded)
			for range 60 {
				b.send(frame.NewChunk(peer.ID, []byte("x"), 0, make([]byte, 100_000), 0))
			}
		}()
		synctest.Wait()
		select {
		case <-flooded:
			t.Error("the switch took more than it may keep")
		default:
		}
		// All others go on at once.
		l, err := s.Open(t.Context(), call.Request{Cap: "cap:sort"})
		require.NoError(t, err)
		req := c.expect(frame.TypeReq)
		c.end(req)
		next(t, l, frame.TypeEnd)
		l.Close()
		c.peer("cap:sort", frame.ID{})
		require.Zero(t, time.Since(began))
		require.True(t, s.Health()[0].Healthy)

		require.ErrorIs(t, <-result, call.ErrEnded)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.Equal(t, "MASTER_DIED/environment", code(t, next(t, toStalled, frame.TypeErr)))
		<-flooded
		require.Equal(t, "MASTER_DIED/environment", code(t, b.next()))
		require.False(t, s.Health()[0].Attached)
		require.True(t, s.Health()[1].Healthy)
		stalled.conn.Close()
	})
}

func TestWaitingToSendEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := route.New(t.Context(), nil, &route.Options{MaxQueued: 1 << 16})
		require.NoError(t, err)
		defer s.Close()
		near, far := pipes()
		joinOver(t, s, "a", near, far, func(h *host) { h.hello(identity, echoCap) })
		l, err := s.Open(t.Context(), call.Request{Cap: "cap:echo"})
		require.NoError(t, err)
		defer l.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(io.ErrNoProgress) })
		for err == nil {
			f := frame.NewChunk(frame.ID{}, []byte("x"), 0, make([]byte, 100_000), 0)
			err = l.Send(ctx, &f)
		}
		require.ErrorIs(t, err, io.ErrNoProgress)
		// Nor does a new request get in.
		_, err = s.Open(ctx, call.Request{Cap: "cap:echo"})
		require.ErrorIs(t, err, io.ErrNoProgress)
		opened := openLater(t, s, "cap:echo")
		require.True(t, opened.waits())
		opened.cancel()
		<-opened.done
		require.ErrorIs(t, opened.err, context.Canceled)
	})
}

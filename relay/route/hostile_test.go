package route_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

// Requirement: W3
func TestAHostThatMisbehavesHurtsNobodyElse(t *testing.T) {
	for name, misbehave := range map[string]func(h *host, foreign *frame.Frame){
		"half a frame, and then nothing": func(h *host, _ *frame.Frame) { h.conn.Write([]byte{0, 0, 1, 0, 0xa4, 0, 4}) },
		"a flood of frames of nothing": func(h *host, _ *frame.Frame) {
			for i := range uint64(20_000) {
				h.out.Write(ptr(routed(frame.NewBodyEnd(frame.Number(1<<40+i)), frame.Number(i))))
			}
			h.out.Flush()
		},
		"a flood of calls that nobody serves": func(h *host, _ *frame.Frame) {
			go func() { // or the answers fill its socket
				for {
					if _, err := h.in.Next(); err != nil {
						return
					}
				}
			}()
			for i := range uint64(5000) {
				h.out.Write(ptr(frame.NewReq(frame.Number(1<<40+i), fmt.Appendf(nil, "cap:nobody-%d", i))))
			}
			h.out.Flush()
		},
		"frames of the requests of others": func(h *host, foreign *frame.Frame) {
			for range 1000 {
				h.out.Write(ptr(routed(frame.NewChunk(foreign.ID, []byte("x"), 0, []byte("forged"), 0), foreign.RoutingID)))
				h.out.Write(ptr(frame.NewChunk(foreign.ID, []byte("x"), 0, []byte("forged"), 0)))
				h.out.Write(ptr(routed(newErr(h.t, foreign.ID, "FORGED"), foreign.RoutingID)))
				h.out.Write(ptr(newErr(h.t, foreign.ID, "FORGED")))
			}
			h.out.Flush()
		},
		"a manifest over and over": func(h *host, _ *frame.Frame) {
			for i := range 300 {
				h.announce(identity, fmt.Sprintf("cap:new-%d", i))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			s := newSwitch(t, nil)
			bad, good := join(t, s, "bad", identity), join(t, s, "good", identity, echoCap)
			c, victim := open(t, s, good, "cap:echo")
			done := make(chan struct{})
			go func() {
				defer close(done)
				misbehave(bad, victim)
			}()
			for range 200 {
				l, req := open(t, s, good, "cap:echo")
				good.echo(req, "fine")
				for _, want := range []frame.Type{frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd} {
					next(t, l, want)
				}
				good.expect(frame.TypeEnd)
				l.Close()
			}
			<-done
			require.True(t, s.Health()[1].Healthy)
			good.echo(victim, "fine")
			require.Equal(t, "fine", string(func() *frame.Frame { next(t, c, frame.TypeStreamStart); return next(t, c, frame.TypeChunk) }().Payload))
			require.Zero(t, s.Stats().Requests.TerminatedByKind[stats.KindMasterDied])
		})
	}
}

// A host that asks and does not read waits for itself, and dies.
func TestAHostThatDoesNotReadItsAnswersIsNotReadAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := route.New(t.Context(), nil, &route.Options{MaxQueued: 1 << 20})
		require.NoError(t, err)
		defer s.Close()
		near, far := pipes()
		h := joinOver(t, s, "a", near, far, func(h *host) { h.hello(identity) })
		cap := "cap:nobody-" + strings.Repeat("x", 10_000)
		began, sent := time.Now(), 0
		for ; sent < 2000; sent++ {
			if h.out.Write(ptr(frame.NewReq(frame.NewUUID(), []byte(cap)))) != nil || h.out.Flush() != nil {
				break
			}
		}
		require.Equal(t, 10*time.Second, time.Since(began))
		require.Less(t, sent*len(cap), 4<<20)
		require.Contains(t, *s.Health()[0].LastError, "takes nothing")
	})
}

func ptr(f frame.Frame) *frame.Frame { return &f }

// Hosts announce themselves every two seconds with other figures: that makes no new table.
func TestANotifyWithOtherFiguresAloneLeavesTheTable(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	near, far := sockets(t)
	r := record{id: "demo", caps: []string{identity, echoCap}, running: true}
	h := joinOver(t, s, "a", near, far, func(h *host) {
		h.announceWith(frame.DefaultLimits(), recordsOf(r))
		h.echo(h.identify(), nonce)
	})
	before := route.TableOf(s)
	r.active = 7
	h.announceWith(frame.DefaultLimits(), recordsOf(r))
	h.settle()
	require.Same(t, before, route.TableOf(s))
	require.EqualValues(t, 7, s.Inventory()[0].Stats.ActiveRequests)
	r.caps = []string{identity}
	h.announceWith(frame.DefaultLimits(), recordsOf(r))
	h.settle()
	require.NotSame(t, before, route.TableOf(s))
}

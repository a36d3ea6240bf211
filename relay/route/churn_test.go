package route_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

// A churner is a host that answers on its own: each request after its body, or before, with some frames, an END or an
// ERR, or after a peer call of its own has ended. It keeps no more than one frame of a request in flight.
type churner struct {
	t     *testing.T
	index int
	hosts int // in all
	in    *frame.Reader
	out   *frame.Writer
	order *flow.ReorderBuffer
	seq   *flow.SeqAssigner
	rng   *rand.Rand
	serve map[frame.ID]frame.ID // routing ids of what it serves
	calls map[frame.ID]frame.ID // its peer calls, and the request that each was made for
}

func (c *churner) send(f frame.Frame) {
	c.seq.Assign(&f)
	c.out.Write(&f) // or the link is down
	if f.Type.Terminal() {
		c.seq.Remove(flow.Key{RID: f.ID, XID: f.RoutingID})
	}
}

// run serves until the link ends.
func (c *churner) run() {
	for {
		if !c.in.Buffered() {
			c.out.Flush()
		}
		f, err := c.in.Next()
		if err != nil {
			return
		}
		head := f.Head()
		if ready, err := c.order.Accept(&head, c.in.Wire()); err != nil || !ready {
			c.t.Errorf("%s %s/%s number %d is out of order: %v", f.Type, f.ID, f.RoutingID, f.Seq, err)
			return
		}
		if f.Type.Terminal() {
			c.order.Cleanup(flow.KeyOf(head))
		}
		c.take(f)
	}
}

func (c *churner) take(f *frame.Frame) {
	xid, served := c.serve[f.ID]
	parent, called := c.calls[f.ID]
	switch f.Type {
	case frame.TypeReq:
		c.serve[f.ID] = f.RoutingID
		switch c.rng.IntN(10) {
		case 0:
			c.answer(f.ID, f.RoutingID) // before the body
		case 1, 2:
			other := (c.index + 1 + c.rng.IntN(c.hosts-1)) % c.hosts
			peer := frame.NewReq(frame.NewUUID(), fmt.Appendf(nil, "cap:serve-%d", other))
			var b frame.MetaBuilder
			frame.ReqInfo{ParentRID: f.ID}.Put(&b)
			peer.Meta, _ = b.Meta()
			c.calls[peer.ID] = f.ID
			c.send(peer)
			c.send(frame.NewBodyEnd(peer.ID))
		}
	case frame.TypeEnd, frame.TypeErr:
		if called {
			delete(c.calls, f.ID)
			if xid, ok := c.serve[parent]; ok {
				c.answer(parent, xid)
			}
			return
		}
		if served && !c.waits(f.ID) && c.rng.IntN(20) > 0 {
			c.answer(f.ID, xid)
		}
	case frame.TypeCancel:
		if served {
			delete(c.serve, f.ID)
			c.fail(f.ID, xid)
		}
	}
}

// waits reports whether a request waits for a peer call.
func (c *churner) waits(rid frame.ID) bool {
	for _, parent := range c.calls {
		if parent == rid {
			return true
		}
	}
	return false
}

func (c *churner) answer(rid, xid frame.ID) {
	delete(c.serve, rid)
	for i := range uint64(c.rng.IntN(4)) {
		c.send(routed(frame.NewChunk(rid, []byte("x"), i, []byte("data"), 0), xid))
	}
	if c.rng.IntN(4) == 0 {
		c.fail(rid, xid)
		return
	}
	end, _ := frame.NewEnd(rid, frame.EndInfo{ExitCode: frame.Some[int64](0)})
	c.send(routed(end, xid))
}

func (c *churner) fail(rid, xid frame.ID) {
	f, _ := frame.NewErr(rid, frame.ErrInfo{Code: []byte("HANDLER_ERROR"), Attribution: frame.AttributionInternal, Message: []byte("no")})
	c.send(routed(f, xid))
}

// attachChurner joins a churner and has it serve until its link ends.
func attachChurner(t *testing.T, s *route.Switch, i, hosts int, running *sync.WaitGroup) io.Closer {
	near, far := sockets(t)
	h := joinOver(t, s, fmt.Sprint(i), near, far, func(h *host) { h.hello(identity, modelCap(i)) })
	c := &churner{
		t: t, index: i, hosts: hosts, in: h.in, out: h.out, order: h.order, seq: h.seq,
		rng:   rand.New(rand.NewPCG(uint64(i), rand.Uint64())),
		serve: map[frame.ID]frame.ID{}, calls: map[frame.ID]frame.ID{},
	}
	far.(net.Conn).SetReadDeadline(time.Time{})
	running.Go(c.run)
	return far
}

// Many callers, hosts that call each other, cancels and deaths at the same time: every request ends once, for
// everybody, and nothing is left of it.
func TestRequestsEndOnceWhateverHappensAtTheSameTime(t *testing.T) {
	relaytest.NoLeaks(t)
	const hosts, callers, requests = 4, 16, 150
	var ended sync.Map
	var twice, total atomic.Int64
	s := newSwitch(t, &route.Options{OnTerminated: func(e stats.Terminated) {
		total.Add(1)
		if _, ok := ended.LoadOrStore(e.XID, e.Kind); ok {
			twice.Add(1)
		}
	}})
	var serving, calling, killing sync.WaitGroup
	links := make([]io.Closer, hosts)
	for i := range hosts {
		links[i] = attachChurner(t, s, i, hosts, &serving)
	}
	stop := make(chan struct{})
	killing.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			i := i % (hosts - 1) // the last one lives
			links[i].Close()
			awaitHealth(t, s, fmt.Sprint(i), false)
			links[i] = attachChurner(t, s, i, hosts, &serving)
		}
	})
	codes := [callers]map[string]int{}
	for n := range callers {
		codes[n] = map[string]int{}
		calling.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(n), 7))
			for range requests {
				codes[n][churnRequest(t, s, rng, hosts)]++
			}
		})
	}
	calling.Wait()
	close(stop)
	killing.Wait()
	sum := map[string]int{}
	for _, c := range codes {
		for code, n := range c {
			sum[code] += n
		}
	}
	t.Logf("ends: %v, by kind: %v", sum, kinds(s))
	s.CancelAll(false, byUser)
	for _, l := range links {
		l.Close()
	}
	serving.Wait()
	require.Eventually(t, func() bool { return len(s.Stats().Requests.Active) == 0 }, patience, time.Millisecond)
	require.Zero(t, twice.Load())
	require.EqualValues(t, s.Stats().Requests.TotalRegistered, total.Load())
	require.Zero(t, s.Stats().Drops.ByReason[stats.NoRoute], "%+v", s.Stats().Drops)
	require.NotZero(t, sum["end"]*sum["MASTER_DIED"]*sum["CANCELLED"]*sum["HANDLER_ERROR"], "%v", sum)
}

// churnRequest makes a request, and returns how it ended.
func churnRequest(t *testing.T, s *route.Switch, rng *rand.Rand, hosts int) string {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	l, err := s.Open(ctx, call.Request{Cap: fmt.Sprintf("cap:serve-%d", rng.IntN(hosts))})
	if err != nil {
		time.Sleep(time.Millisecond)
		return string(route.KindOf(err))
	}
	defer l.Close()
	for i := range rng.IntN(4) {
		f := frame.NewChunk(frame.ID{}, []byte("arg"), uint64(i), []byte("data"), 0)
		if errors.Is(l.Send(ctx, &f), call.ErrEnded) {
			break
		}
	}
	end := frame.NewBodyEnd(frame.ID{})
	l.Send(ctx, &end)
	if rng.IntN(5) == 0 {
		l.Cancel(false, byUser)
	}
	patience := time.AfterFunc(200*time.Millisecond, func() { l.Cancel(false, byUser) }) // some are never answered
	defer patience.Stop()
	var ends []string
	for {
		f, err := l.Next(ctx)
		switch {
		case err == io.EOF && len(ends) == 1:
			return ends[0]
		case err != nil:
			t.Errorf("request %s: %v after the ends %v", l.ID(), err, ends)
			return err.Error()
		case f.Type == frame.TypeEnd:
			ends = append(ends, "end")
		case f.Type == frame.TypeErr:
			info, _ := f.ErrInfo()
			ends = append(ends, string(info.Code))
		}
	}
}

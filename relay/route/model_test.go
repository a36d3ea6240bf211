package route_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

// A model runs a switch and its twin side by side.
type model struct {
	t     *testing.T
	rng   *rand.Rand
	s     *route.Switch
	w     *twin
	hosts []*host
	calls map[*twinRequest]*route.Call

	mu    sync.Mutex
	got   [][]seen // by each host
	ended map[frame.ID]int
}

const modelHosts = 3

func modelCap(i int) string { return fmt.Sprintf(`cap:serve-%d;in="media:";out="media:"`, i) }

// Whatever happens, and in whatever order: every request ends exactly once, in the way that the twin says, and every host
// and every caller gets just the frames that they are to get.
//
// Requirements: W1, W2, W3
func TestASwitchDoesWhatItsTwinDoes(t *testing.T) {
	runs := 20
	if testing.Short() {
		runs = 5
	}
	for seed := range runs {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newModel(t, uint64(seed))
				for range 400 {
					m.step()
					m.compare()
				}
				m.drain()
				m.s.Close()
			})
		})
	}
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), w: &twin{kinds: map[stats.Kind]uint64{}},
		hosts: make([]*host, modelHosts), got: make([][]seen, modelHosts),
		calls: map[*twinRequest]*route.Call{}, ended: map[frame.ID]int{},
	}
	var err error
	m.s, err = route.New(t.Context(), nil, &route.Options{OnTerminated: func(e stats.Terminated) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.ended[e.XID]++
	}})
	require.NoError(t, err)
	for i := range modelHosts {
		m.w.hosts = append(m.w.hosts, &twinHost{})
		m.attach(i)
	}
	return m
}

func (m *model) attach(i int) {
	near, far := pipes()
	h := joinOver(m.t, m.s, fmt.Sprint(i), near, far, func(h *host) { h.hello(identity, modelCap(i)) })
	m.hosts[i] = h
	m.w.number() // of the identity check
	m.w.hosts[i] = &twinHost{attached: true}
	m.got[i] = nil
	go func() {
		for {
			f, err := h.read()
			if err != nil {
				return
			}
			m.mu.Lock()
			m.got[i] = append(m.got[i], seen{f.Type, f.ID, f.RoutingID})
			m.mu.Unlock()
		}
	}()
}

// pick returns one of some requests, or nil.
func (m *model) pick(of []*twinRequest) *twinRequest {
	if len(of) == 0 {
		return nil
	}
	return of[m.rng.IntN(len(of))]
}

// any returns a request that lives, or one of the last that ended.
func (m *model) any() *twinRequest {
	if ended := m.w.ended; len(ended) > 0 && m.rng.IntN(6) == 0 {
		return m.pick(ended[max(0, len(ended)-30):])
	}
	return m.pick(m.w.live)
}

func (m *model) step() {
	r := m.any()
	switch n := m.rng.IntN(100); {
	case n < 20 || r == nil:
		m.open()
	case n < 40:
		m.peer(m.rng.IntN(modelHosts), m.any())
	case n < 60:
		m.body(r)
	case n < 80:
		m.response(r)
	case n < 84:
		m.response(&twinRequest{rid: r.rid, xid: r.xid, origin: r.origin, dest: m.rng.IntN(modelHosts)})
	case n < 88:
		require.Equal(m.t, !r.ended, m.s.Cancel(r.rid, false, byUser))
		if !r.ended {
			m.w.cancel(r)
		}
	case n < 92:
		m.cancelFrame(r)
	case n < 95:
		if c := m.calls[r]; c != nil {
			c.Close()
			delete(m.calls, r)
			if !r.ended {
				m.w.cancel(r)
			}
		}
	case n < 98:
		m.die(m.rng.IntN(modelHosts))
	default:
		for i, h := range m.w.hosts {
			if !h.attached {
				m.attach(i)
			}
		}
	}
	synctest.Wait()
}

func (m *model) open() {
	to := m.rng.IntN(modelHosts)
	rid := frame.NewUUID()
	var parent *twinRequest
	request := call.Request{Cap: modelCap(to), ID: rid}
	if m.rng.IntN(4) == 0 {
		if parent = m.any(); parent != nil {
			request.Parent = parent.rid
		}
	}
	l, err := m.s.Open(m.t.Context(), request)
	if !m.w.hosts[to].attached {
		require.Error(m.t, err)
		return
	}
	require.NoError(m.t, err)
	m.calls[m.w.open(rid, -1, to, parent)] = l.(*route.Call)
}

func (m *model) peer(from int, parent *twinRequest) {
	to := m.rng.IntN(modelHosts)
	if !m.w.hosts[from].attached {
		return
	}
	parentID := frame.ID{}
	if parent != nil {
		parentID = parent.rid
	}
	var b frame.MetaBuilder
	frame.ReqInfo{ParentRID: parentID}.Put(&b)
	f := frame.NewReq(frame.NewUUID(), []byte(modelCap(to)))
	f.Meta, _ = b.Meta()
	m.hosts[from].send(f)
	if m.w.hosts[to].attached {
		m.w.open(f.ID, from, to, parent)
	} else {
		m.w.refuse(f.ID, from)
	}
}

func (m *model) body(r *twinRequest) {
	f := frame.NewChunk(r.rid, []byte("arg"), 0, []byte("x"), 0)
	switch m.rng.IntN(5) {
	case 0:
		f = frame.NewBodyEnd(r.rid)
	case 1:
		f = newErr(m.t, r.rid, "BODY")
	}
	if r.origin >= 0 {
		if m.w.hosts[r.origin].attached {
			m.w.body(r, f.Type)
			m.hosts[r.origin].send(f)
		}
		return
	}
	if c := m.calls[r]; c != nil {
		err := c.Send(m.t.Context(), &f)
		if r.ended {
			require.ErrorIs(m.t, err, call.ErrEnded)
		} else {
			require.NoError(m.t, err)
		}
		m.w.body(r, f.Type)
	}
}

func (m *model) response(r *twinRequest) {
	if !m.w.hosts[r.dest].attached {
		return
	}
	f := frame.NewChunk(r.rid, []byte("out"), 0, []byte("x"), 0)
	switch m.rng.IntN(5) {
	case 0:
		f = frame.NewBodyEnd(r.rid)
	case 1:
		f = newErr(m.t, r.rid, "RESPONSE")
	}
	for _, known := range append(m.w.live, m.w.ended...) {
		if known.rid == r.rid {
			m.w.response(known, r.dest, f.Type)
			break
		}
	}
	m.hosts[r.dest].send(routed(f, r.xid))
}

// cancelFrame has a host send a CANCEL, its own or not.
func (m *model) cancelFrame(r *twinRequest) {
	from := m.rng.IntN(modelHosts)
	if !m.w.hosts[from].attached {
		return
	}
	f, err := frame.NewCancel(r.rid, false, byUser)
	require.NoError(m.t, err)
	m.hosts[from].send(f)
	switch {
	case r.ended:
	case r.origin == from:
		m.w.toHost(r.dest, frame.TypeCancel, r)
	default:
		m.w.lost++
	}
}

func (m *model) die(i int) {
	if !m.w.hosts[i].attached {
		return
	}
	m.hosts[i].conn.Close()
	m.w.die(i)
	synctest.Wait()
	m.mu.Lock()
	m.got[i] = nil
	m.mu.Unlock()
}

// compare compares all that can be seen.
func (m *model) compare() {
	t := m.t
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, h := range m.w.hosts {
		require.Equal(t, h.frames, m.got[i], "host %d", i)
		h.frames, m.got[i] = nil, nil
	}
	for r, c := range m.calls {
		var got []frame.Type
		for f, ok := c.TryNext(); ok; f, ok = c.TryNext() {
			got = append(got, f.Type)
		}
		require.Equal(t, r.got, got, "request %s", r.rid)
		r.got = nil
	}
	now := m.s.Stats()
	require.Len(t, now.Requests.Active, len(m.w.live))
	require.EqualValues(t, len(m.w.live)+len(m.w.ended), now.Requests.TotalRegistered)
	require.Equal(t, m.w.kinds, now.Requests.TerminatedByKind)
	require.Equal(t, m.w.late, now.Stragglers.Total)
	require.Equal(t, m.w.lost, now.Drops.ByReason[stats.NoRoute])
	require.Len(t, m.ended, len(m.w.ended))
	for _, r := range m.w.ended {
		require.Equal(t, 1, m.ended[r.xid], "request %s ended", r.rid)
	}
}

// drain ends all that lives, after which nothing is left of it.
func (m *model) drain() {
	for len(m.w.live) > 0 {
		r := m.w.live[0]
		require.True(m.t, m.s.Cancel(r.rid, false, byUser))
		m.w.cancel(r)
	}
	synctest.Wait()
	m.compare()
	require.Zero(m.t, route.FlowsOf(m.s))
}

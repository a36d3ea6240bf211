package cartridge_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/admission"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// probe sends a heartbeat and returns what comes for it.
func (s *script) probe(h frame.Heartbeat) *frame.Frame {
	s.t.Helper()
	f, err := frame.NewHeartbeat(frame.NewUUID(), h)
	require.NoError(s.t, err)
	s.send(&f)
	answer := s.next()
	require.Equal(s.t, f.ID, answer.ID)
	return answer
}

func TestHeartbeatTellsPoolsAndFigures(t *testing.T) {
	s := served(t, 32, func(_ context.Context, r *cartridge.Request) error {
		r.Overrun()
		return nil
	})
	r := s.req(testCap)
	r.wantSuccess()
	h := s.silent()
	pools, err := manifest.ParsePools(h.Pools)
	require.NoError(t, err)
	require.Len(t, pools, 3)
	require.Equal(t, uint64(0), h.HandlerCapacity.Or(99))
	require.Equal(t, uint64(1), h.Overruns.Or(99))
	require.True(t, h.Drops.IsSet() && h.Stragglers.IsSet())
	require.Positive(t, h.FootprintMB.Or(0))
	if h.RSSMB.IsSet() { // where the system tells
		require.Positive(t, h.RSSMB.Or(0))
	}
	require.NoError(t, s.finish())
}

func TestOperatorValues(t *testing.T) {
	relaytest.NoLeaks(t)
	c := cartridge.New("demo", "1", nil)
	release := make(chan struct{})
	c.Handle(testCap, "Test", func(context.Context, *cartridge.Request) error { <-release; return nil })
	s := greeted(t, c, 32)

	answer := s.probe(frame.Heartbeat{DesiredCapacities: []byte(`{"all": 1, "cap:test": 5}`)})
	require.Equal(t, frame.TypeHeartbeat, answer.Type)
	h, err := answer.Heartbeat()
	require.NoError(t, err)
	pools, err := manifest.ParsePools(h.Pools)
	require.NoError(t, err)
	require.Equal(t, uint64(1), pools["all"].Configured)
	require.Equal(t, uint64(5), pools[testCap].Configured)
	require.Equal(t, uint64(1), h.HandlerCapacity.Or(99))

	for desired, code := range map[string]string{
		`{"all": 7, "gpu": 2}`: "UNKNOWN_POOL", // all or nothing
		`{"all": -1}`:          "PROTOCOL_ERROR",
		`nonsense`:             "PROTOCOL_ERROR",
	} {
		answer = s.probe(frame.Heartbeat{DesiredCapacities: []byte(desired)})
		i, err := answer.ErrInfo()
		require.NoError(t, err)
		require.Equal(t, code, string(i.Code))
		require.Equal(t, frame.AttributionInternal, i.Attribution)
	}
	first, second := s.req(testCap), s.req(testCap)
	l, err := second.want(frame.TypeLog).LogInfo()
	require.NoError(t, err)
	require.Equal(t, "queued", string(l.Level), "all is still 1")

	f, err := frame.NewHeartbeat(frame.NewUUID(), frame.Heartbeat{DesiredCapacities: []byte(`{"all": 0}`)})
	require.NoError(t, err)
	s.send(&f)
	seen := map[frame.Type]bool{s.next().Type: true, s.next().Type: true}
	require.Equal(t, map[frame.Type]bool{frame.TypeHeartbeat: true, frame.TypeLog: true}, seen, "dequeued, and the answer")
	close(release)
	for range 2 {
		f := s.want(frame.TypeEnd)
		require.Contains(t, []frame.ID{first.id, second.id}, f.ID)
	}
	require.NoError(t, s.finish())
}

func TestSetAvailable(t *testing.T) {
	c := cartridge.New("demo", "1", nil)
	c.Handle(testCap, "Test", idle)
	require.NoError(t, c.SetAvailable("all", 3))
	require.ErrorIs(t, c.SetAvailable("gpu", 3), admission.ErrUnknownPool)
	s := greeted(t, c, 32)
	available := func() uint64 {
		pools, err := manifest.ParsePools(s.silent().Pools)
		require.NoError(t, err)
		if pools["all"].Available == nil {
			return 0
		}
		return *pools["all"].Available
	}
	require.Equal(t, uint64(3), available(), "from before the connection")
	require.NoError(t, c.SetAvailable("all", 2))
	require.Equal(t, uint64(2), available())
	require.NoError(t, s.finish())
}

// Requirement: ST2
func TestResourceStateReachesHandlers(t *testing.T) {
	seen := make(chan string)
	s := served(t, 32, func(ctx context.Context, r *cartridge.Request) error {
		for {
			state, changed := r.ResourceState()
			seen <- string(state)
			select {
			case <-changed:
			case <-ctx.Done():
				return nil
			}
		}
	})
	r := s.req(testCap)
	require.Equal(t, "", <-seen)
	s.probe(frame.Heartbeat{ResourceState: []byte("gpu 0")})
	require.Equal(t, "gpu 0", <-seen)
	s.silent() // a probe without it changes nothing
	answer := s.probe(frame.Heartbeat{ResourceState: []byte("gpu 1"), DesiredCapacities: []byte(`{"no": 1}`)})
	require.Equal(t, frame.TypeErr, answer.Type, "the numbers are refused, not the state")
	require.Equal(t, "gpu 1", <-seen)
	r.cancel(frame.CancelReason{})
	r.want(frame.TypeErr)
	require.NoError(t, s.finish())
}

// Requirement: PO1
func TestPolicyReachesHandlers(t *testing.T) {
	seen := make(chan *cartridge.Policy)
	s := served(t, 32, func(ctx context.Context, r *cartridge.Request) error {
		for {
			p, changed := r.Policy()
			seen <- p
			select {
			case <-changed:
			case <-ctx.Done():
				return nil
			}
		}
	})
	r := s.req(testCap)
	require.Nil(t, <-seen)
	f := frame.NewPolicy([]byte(`{"net": false}`))
	var b frame.MetaBuilder
	b.Text("by", "ops")
	f.Meta, _ = b.Meta()
	s.send(&f)
	p := <-seen
	require.JSONEq(t, `{"net": false}`, string(p.Payload))
	by, _ := p.Meta.Text("by")
	require.Equal(t, "ops", string(by))
	r.cancel(frame.CancelReason{})
	r.want(frame.TypeErr)

	r = s.req(testCap) // a later request has the newest
	require.JSONEq(t, `{"net": false}`, string((<-seen).Payload))
	r.cancel(frame.CancelReason{})
	r.want(frame.TypeErr)
	require.NoError(t, s.finish())
}

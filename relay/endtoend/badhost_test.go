package endtoend

import (
	"encoding/json"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/pipe"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// Requirements: PO2, W3. A policy from the side of a host ends that relay and the requests on it; others go on.
func TestPolicyFromAHostEndsItsRelayAlone(t *testing.T) {
	t.Run("at the switch", func(t *testing.T) {
		r, h := startBadHost(t, func(socket net.Conn, n *frame.Notify) io.ReadWriteCloser {
			f, err := frame.NewRelayNotify(*n)
			require.NoError(t, err)
			require.NoError(t, write(frame.NewWriter(socket, nil), &f))
			return socket
		})
		h.sendPolicy()
		assert.Contains(t, r.died(h), "a policy frame from the host")
	})
	t.Run("at the slave", func(t *testing.T) {
		ended := make(chan error, 1)
		r, h := startBadHost(t, func(socket net.Conn, n *frame.Notify) io.ReadWriteCloser {
			near, far := pipe.New(0)
			go func() { ended <- bridge.NewSlave(far, nil).Run(t.Context(), socket, n) }()
			return near
		})
		h.sendPolicy()
		assert.NotContains(t, r.died(h), "policy", "nothing of it reaches the switch")
		select {
		case err := <-ended:
			assert.Equal(t, frame.ErrProtocol, frame.KindOf(err), "%v", err)
			assert.ErrorContains(t, err, "policy")
		case <-time.After(roundLimit):
			t.Error("the slave does not end")
		}
	})
}

// A badHost is the host's end of a relay, with a request that it does not answer.
type badHost struct {
	t          *testing.T
	conn       io.ReadWriteCloser
	in         *frame.Reader
	out        *frame.Writer
	request    *call.Call
	neighbours []*neighbour
}

// startBadHost joins a bad host beside a good one; join announces it at its end of a socket, and returns where its frames
// come and go.
func startBadHost(t *testing.T, join func(net.Conn, *frame.Notify) io.ReadWriteCloser) (*rig, *badHost) {
	relaytest.NoLeaks(t)
	r := newRig(t)
	r.startHost("good", "c1")
	manifest, err := json.Marshal(map[string]any{"caps": []string{"cap:effect=none", capOf("bad")}})
	require.NoError(t, err)
	conn := join(r.dial(), &frame.Notify{Manifest: manifest, Limits: frame.DefaultLimits()})
	t.Cleanup(func() { conn.Close() })
	h := &badHost{t: t, conn: conn, in: frame.NewReader(conn, nil), out: frame.NewWriter(conn, nil)}
	identified := make(chan error, 1)
	go func() { identified <- h.identify() }()
	r.join("bad")
	require.NoError(t, <-identified)
	h.request, err = call.Start(t.Context(), r.sw, call.Request{Cap: capOf("bad")})
	require.NoError(t, err)
	t.Cleanup(func() { h.request.Close() })
	h.neighbours = r.startNeighbours("c1")
	return r, h
}

// identify answers the check of identity with what comes.
func (h *badHost) identify() error {
	seq := flow.NewSeqAssigner(nil)
	for {
		f, err := h.in.Next()
		if err != nil {
			return err
		}
		if f.Type == frame.TypeReq {
			continue
		}
		f.Seq = 0
		seq.Assign(f)
		if err := write(h.out, f); err != nil {
			return err
		}
		if f.Type.Terminal() {
			return nil
		}
	}
}

func write(out *frame.Writer, f *frame.Frame) error {
	if err := out.Write(f); err != nil {
		return err
	}
	return out.Flush()
}

func (h *badHost) sendPolicy() {
	f := frame.NewPolicy([]byte("mine"))
	require.NoError(h.t, write(h.out, &f))
}

// died checks that the relay of a bad host has ended, that one alone, and returns why the switch says so.
func (r *rig) died(h *badHost) string {
	_, err := h.request.Collect(h.t.Context())
	var e *call.Error
	require.ErrorAs(h.t, err, &e)
	assert.Equal(h.t, "MASTER_DIED", e.Code)
	assert.Equal(h.t, frame.AttributionEnvironment, e.Attribution)
	health := r.sw.Health()
	assert.True(h.t, health[0].Healthy)
	assert.False(h.t, health[1].Healthy)
	assert.False(h.t, health[1].Attached)
	assert.False(h.t, r.offers("bad"))
	assert.True(h.t, r.offers("c1"))
	r.endNeighbours(h.neighbours)
	require.NotNil(h.t, health[1].LastError)
	return *health[1].LastError
}

package endtoend

import (
	"bytes"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// Requirement: PO1. The policy is the first thing that a host hears, before the check of its identity, and what each of its cartridges
// hears before its first request; both hear every change.
func TestPolicyReachesHostsAndCartridgesFirst(t *testing.T) {
	relaytest.NoLeaks(t)
	r := newRigWith(t, route.Options{Policy: &route.Policy{Payload: []byte("one")}})
	a, heard := r.tapHost("a", "a0", "a1")
	_, other := r.tapHost("b", "b0")
	assert.Equal(t, []string{"policy one", "req cap:effect=none"}, heard.notes(t), "host a")
	assert.Equal(t, []string{"policy one", "req cap:effect=none"}, other.notes(t), "host b")

	// The second check of identity is the switch's, which started it.
	assert.Equal(t, "req, policy one, req, req tell", r.tell("a0"))
	require.NoError(t, r.sw.SetPolicy(&route.Policy{Payload: []byte("two")}))
	assert.Equal(t, "req, policy one, req, req tell, policy two, req tell", r.tell("a0"), "it runs")
	assert.Equal(t, "req, policy two, req tell", r.tell("a1"), "it starts later")
	require.NoError(t, r.sw.SetPolicy(&route.Policy{Payload: []byte("two")})) // no change
	require.NoError(t, r.sw.SetPolicy(&route.Policy{Payload: []byte("three")}))
	assert.Equal(t, "req, policy two, req tell, policy three, req tell", r.tell("a1"))
	assert.Equal(t, "req, policy one, req, policy two, policy three, req tell", r.tell("b0"), "on the other host")
	assert.Equal(t, []string{
		"policy one", "req cap:effect=none", "req " + capOf("a0"),
		"policy two", "req " + capOf("a0"), "req " + capOf("a1"),
		"policy three", "req " + capOf("a1"),
	}, heard.notes(t), "host a")

	// A cartridge that dies hears it again, and so does a host that comes back.
	require.True(t, a.Kill(registrationOf(t, r.mark, "a1", "raw", "").Install, frame.CancelReason{}))
	eventually(t, func() bool { return nameCount(r.mark, "a1") == 0 }, "the cartridge is gone")
	assert.Equal(t, "req, policy three, req tell", r.tell("a1"))
	r.stopHost("a")
	_, heard = r.tapHost("a", "a0", "a1")
	assert.Equal(t, []string{"policy three", "req cap:effect=none"}, heard.notes(t), "host a, again")
	assert.Equal(t, "req, policy three, req tell", r.tell("a1"))
}

func nameCount(mark, name string) (n int) {
	for _, pid := range processes(mark) {
		if nameOf(pid) == name {
			n++
		}
	}
	return n
}

// tapHost joins a host with some raw cartridges, and keeps what the switch sends it.
func (r *rig) tapHost(id string, names ...string) (*runningHost, *tap) {
	h := host.New(&host.Options{Logger: logger()})
	for _, name := range names {
		require.NoError(r.t, h.Register(registrationOf(r.t, r.mark, name, "raw", "")))
	}
	socket := &tap{UnixConn: r.dial()}
	return r.runHostOver(id, h, socket), socket
}

// tell returns what a raw cartridge was told, from its start on.
func (r *rig) tell(name string) string {
	r.t.Helper()
	var meta frame.MetaBuilder
	meta.Text("do", "tell")
	m, err := meta.Meta()
	require.NoError(r.t, err)
	c, err := call.Start(r.t.Context(), r.sw, call.Request{Cap: capOf(name), Meta: m})
	require.NoError(r.t, err)
	defer c.Close()
	out, err := c.Collect(r.t.Context())
	require.NoError(r.t, err)
	require.Len(r.t, out, 1)
	return strings.ReplaceAll(string(out[0].Data), "\n", ", ")
}

// A tap is a host's socket that keeps what it has read.
type tap struct {
	*net.UnixConn
	mu  sync.Mutex
	got []byte
}

func (c *tap) Read(p []byte) (int, error) {
	n, err := c.UnixConn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, p[:n]...)
	return n, err
}

// notes returns the policies and the requests that came, in order. The first frame has to be one of them.
func (c *tap) notes(t *testing.T) (notes []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	in := frame.NewReader(bytes.NewReader(c.got), nil)
	for first := true; ; first = false {
		f, err := in.Next()
		if err != nil {
			return notes
		}
		switch f.Type {
		case frame.TypePolicy:
			assert.Equal(t, frame.Number(0), f.ID)
			assert.Zero(t, f.Seq)
			assert.True(t, f.RoutingID.IsZero())
			notes = append(notes, "policy "+string(f.Payload))
		case frame.TypeReq:
			notes = append(notes, "req "+string(f.Cap))
		default:
			assert.False(t, first, "%v is the first frame", f.Type)
		}
	}
}

package interop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/manifest"
)

// Heartbeats carry what the operator wants of a cartridge's pools, and its answers what they are.
//
// Requirements: ST1, ST2
func TestTheirCartridgeTakesCapacities(t *testing.T) {
	t.Parallel()
	refused := make(chan host.Event, 1)
	r := assemble(t, &rig{
		parts: parts{byUs, byUs, byThem}, peer: findPeer(t, envV4), on: [][]cartridgeOf{{far}},
		options: host.Options{HeartbeatEvery: 100 * time.Millisecond, Observer: func(e host.Event) {
			if e.Kind == host.Refused {
				refused <- e
			}
		}},
	})
	e := r.engine.(*ourEngine)
	e.caps(t)
	e.until(t, "answer to a heartbeat", func(s *manifest.RuntimeStats) bool { return s.LastHeartbeat != nil && s.Drops != nil })

	require.NoError(t, e.SetCapacities("0", far.name, map[string]uint64{"all": 4}))
	e.until(t, "new capacity", func(s *manifest.RuntimeStats) bool { return s.Pools["all"].Configured == 4 })

	require.NoError(t, e.SendState("0", []byte(`{"desired_capacities": {"cartridge_id": "far", "capacities": {"nobody": 1}}}`)))
	assert.Contains(t, (<-refused).Message, "nobody")
	r.identity(t)
	r.close(t)
}

// A cartridge of version 4 ends at a POLICY, so a host has to know which those are.
//
// Requirement: PO1
func TestACartridgeThatTakesNoPolicy(t *testing.T) {
	t.Parallel()
	r := assemble(t, &rig{
		parts: parts{byUs, byUs, byThem}, peer: findPeer(t, envV4), policy: "full", on: [][]cartridgeOf{{far, near}},
		options: host.Options{TakesPolicy: func(i manifest.Install) bool { return i.ID != far.name }},
	})
	require.Equal(t, all(), r.engine.caps(t))
	r.inverts(t)
	a := r.engine.call(t, invocation{Cap: capURN("forward"), Media: media, Body: []byte("x")})
	assert.Equal(t, "err", a.Terminal)
	assert.Contains(t, []string{"CARTRIDGE_DIED", "SPAWN_FAILED"}, a.Code, a.Message)
	r.inverts(t)
	r.close(t)
}

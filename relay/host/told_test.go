package host

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// told returns what a cartridge was told beside requests, and the names of those, in order.
func (r *rig) told(name string) []string {
	r.t.Helper()
	q := r.req(capOf("tell") + ";of=" + name).body("")
	text := string(r.next(q.RID, frame.TypeChunk).Payload)
	q.end()
	return strings.Split(text, "\n")
}

// Requirements: PO1
// A policy is kept, handed down to what runs at once, and to what starts later before its first request.
func TestPolicyBeforeTheFirstRequest(t *testing.T) {
	r := startRig(t, &Options{TakesPolicy: func(i manifest.Install) bool { return i.ID != "old" }}, "demo", "good", "old")
	require.Equal(t, "req tell", r.told("demo")[1])
	p := frame.NewPolicy([]byte("one"))
	r.send(&p)
	require.Equal(t, []string{"identity", "policy one", "req tell"}, r.told("good"), "after the check of identity")
	require.Equal(t, []string{"identity", "req tell", "policy one", "req tell"}, r.told("demo"))
	p = frame.NewPolicy([]byte("two"))
	r.send(&p)
	require.Equal(t, []string{"identity", "policy one", "req tell", "policy two", "req tell"}, r.told("good"))
	require.Equal(t, []string{"identity", "req tell"}, r.told("old"), "it can not read one")
	require.Equal(t, "two", string(r.h.Policy().Payload))

	r.req(capOf("die")+";of=demo").err(codeDied, frame.AttributionEnvironment)
	require.Equal(t, []string{"identity", "policy two", "req tell"}, r.told("demo"), "after a new start")
}

// A policy reaches cartridges as it came, with what nobody knows in it.
func TestPolicyIsHandedDownWhole(t *testing.T) {
	r := startRig(t, nil, "demo")
	p := frame.NewPolicy([]byte("x"))
	var b frame.MetaBuilder
	b.Text("network", "full")
	b.Any("later", []int{1, 2})
	p.Meta, _ = b.Meta()
	r.send(&p)
	r.echoes("demo")
	got := r.h.Policy()
	require.True(t, bytes.Equal(p.Meta.Raw(), got.Meta.Raw()))
	require.Equal(t, p.ID, got.ID)
}

// Requirements: ST2
// RELAY_STATE reaches cartridges by a heartbeat, what each gets says the option; it never comes as a frame.
func TestRelayStateReachesCartridges(t *testing.T) {
	r := startRig(t, &Options{State: func(payload []byte, i manifest.Install) []byte {
		if i.ID == "old" {
			return nil
		}
		return append([]byte(i.ID+" gets "), payload...)
	}}, "demo", "good", "old")
	r.told("demo")
	s := frame.NewRelayState([]byte("gpu 0"))
	r.send(&s)
	require.Equal(t, []string{"identity", "req tell", "state demo gets gpu 0", "req tell"}, r.told("demo"), "before what comes after it")
	require.Equal(t, []string{"identity", "state good gets gpu 0", "req tell"}, r.told("good"), "in the first heartbeat")
	require.Equal(t, []string{"identity", "req tell"}, r.told("old"))
	r.event(Started)
}

// Without the option all get all of it.
func TestRelayStateByDefault(t *testing.T) {
	r := startRig(t, nil, "demo")
	s := frame.NewRelayState([]byte("gpu 0"))
	r.send(&s)
	require.Equal(t, []string{"identity", "state gpu 0", "req tell"}, r.told("demo"))
}

// What an operator wants of pools goes to its cartridge at once, or when it starts. A refusal is reported and nothing
// more.
func TestDesiredCapacities(t *testing.T) {
	r := startRig(t, &Options{State: func([]byte, manifest.Install) []byte { return nil }}, "demo", "good", "picky/refuses")
	for _, id := range []string{"demo", "picky", "nobody"} {
		s := frame.NewRelayState([]byte(`{"desired_capacities": {"cartridge_id": "` + id + `", "capacities": {"all": 4}}}`))
		r.send(&s)
	}
	require.Equal(t, []string{"identity", `desired {"all": 4}`, "req tell"}, r.told("demo"))
	require.Equal(t, []string{"identity", "req tell"}, r.told("good"))
	require.Equal(t, []string{"identity", `desired {"all": 4}`, "req tell"}, r.told("picky"))
	e := r.event(Refused)
	require.Equal(t, "picky", e.Install.ID)
	require.Contains(t, e.Message, "UNKNOWN_POOL")

	s := frame.NewRelayState([]byte(`{"desired_capacities": {"cartridge_id": "demo", "capacities": {"all": 5}}}`))
	r.send(&s)
	require.Equal(t, `desired {"all": 5}`, r.told("demo")[3])
	for _, f := range r.frames {
		require.NotEqual(t, frame.TypeErr, f.Type, "the refusal must not reach the switch")
	}
}

// Heartbeats never cross the relay; a cartridge's own ones are answered.
func TestHeartbeatsStayBelow(t *testing.T) {
	r := startRig(t, nil, "demo")
	r.req(capOf("beat")).body("x").end()
	r.echoes("demo")
	for _, f := range r.frames {
		require.NotEqual(t, frame.TypeHeartbeat, f.Type)
	}
	require.Contains(t, r.told("demo"), "answer")
}

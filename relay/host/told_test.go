package host

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
	require.Equal(t, []string{"identity", policyText("one"), "req tell"}, r.told("good"), "after the check of identity")
	require.Equal(t, []string{"identity", "req tell", policyText("one"), "req tell"}, r.told("demo"))
	p = frame.NewPolicy([]byte("two"))
	r.send(&p)
	require.Equal(t, []string{"identity", policyText("one"), "req tell", policyText("two"), "req tell"}, r.told("good"))
	require.Equal(t, []string{"identity", "req tell"}, r.told("old"), "it can not read one")
	require.Equal(t, "two", string(r.h.Policy().Payload))

	r.req(capOf("die")+";of=demo").err(codeDied, frame.AttributionEnvironment)
	require.Equal(t, []string{"identity", policyText("two"), "req tell"}, r.told("demo"), "after a new start")
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

// What nobody knows in a policy goes on too, at the start and later.
func TestPolicyGoesOnByteForByte(t *testing.T) {
	r := startRig(t, nil, "demo", "good")
	r.echoes("demo")
	odd := []byte{0xa6, 0x06, 0x41, 'p', 0x00, 0x04, 0x01, 15, 0x02, 0x00, 0x03, 0x00, 0x18, 99, 0x61, 'q'}
	require.NoError(t, r.out.WriteWire(append([]byte{0, 0, 0, byte(len(odd))}, odd...)))
	require.NoError(t, r.out.Flush())
	want := fmt.Sprintf("policy p %x", odd)
	require.Equal(t, []string{"identity", want, "req tell"}, r.told("good"))
	require.Equal(t, []string{"identity", "req echo", want, "req tell"}, r.told("demo"))
}

// A state that is longer than what a cartridge takes is not for it; its limits are kept, and it is not taken for dead.
func TestStateTooLongForCartridge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startBubble(t, nil)
		reg := r.served("demo")
		reg.Provider = Handlers(inProcess{"demo", "small"})
		require.NoError(t, r.h.Register(reg))
		for range 2 {
			s := frame.NewRelayState(make([]byte, 30_000))
			r.send(&s)
			r.echoes("demo")
			time.Sleep(time.Minute)
			r.echoes("demo")
		}
		require.Zero(t, r.h.Inventory()[0].Stats.Restarts)
	})
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

// policyText returns what an actor says of a policy with a payload.
func policyText(payload string) string {
	p := frame.NewPolicy([]byte(payload))
	body, _ := p.Append(nil)
	return fmt.Sprintf("policy %s %x", payload, body)
}

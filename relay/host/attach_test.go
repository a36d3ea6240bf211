package host

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/stats"
)

// attachServer attaches a server of this process.
func (r *rig) attachServer(s Server) error {
	near, far, err := relaytest.SocketPair()
	require.NoError(r.t, err)
	go func() {
		s.Serve(context.Background(), far)
		far.Close()
	}()
	return r.h.Attach(r.t.Context(), near)
}

// attach attaches an actor of this process.
func (r *rig) attach(name, behaviour string) error {
	return r.attachServer(inProcess{name, behaviour})
}

// A cartridge that runs already has the identity of its manifest, and is forgotten when it ends.
func TestAttach(t *testing.T) {
	r := startRig(t, nil, "good")
	require.NoError(t, r.attach("demo", ""))
	n := r.note(func(n *manifest.Inventory) bool { return len(n.Records) == 2 })
	require.Equal(t, install("demo"), n.Records[1].Install)
	require.True(t, n.Records[1].Stats.Running)
	r.echoes("demo")
	f := r.req(capOf("leave")+";of=demo").err(codeDied, frame.AttributionEnvironment)
	require.Equal(t, `cartridge "demo" 1.2.3 ended`, message(f))
	require.Equal(t, []string{"good"}, ids(r.h.Inventory()))
	r.req(capOf("echo")+";of=demo").err(codeNoHandler, frame.AttributionEnvironment)
	r.echoes("good")
}

func TestAttachFailures(t *testing.T) {
	r := startRig(t, &Options{HelloLimit: 3 * time.Second}, "good")
	for behaviour, kind := range map[string]manifest.AttachmentKind{
		"mute": manifest.HandshakeFailed, "no-pools": manifest.HandshakeFailed, "bad-manifest": manifest.ManifestInvalid,
		"no-identity": manifest.Incompatible, "wrong-echo": manifest.IdentityRejected,
	} {
		err := r.attach("demo", behaviour)
		var failed *StartError
		require.ErrorAs(t, err, &failed, behaviour)
		require.Equal(t, kind, failed.Kind, "%s: %v", behaviour, err)
	}
	require.ErrorIs(t, r.attach("demo", "no-manifest"), frame.ErrHandshake)
	require.Equal(t, []string{"good"}, ids(r.h.Inventory()))

	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
	near, far, err := relaytest.SocketPair()
	require.NoError(t, err)
	defer far.Close()
	require.ErrorIs(t, r.h.Attach(ctx, near), cause)
}

// With Stay cartridges outlive the relay; their requests are cancelled, and the next relay finds them as they are.
func TestStay(t *testing.T) {
	r := startRig(t, &Options{Stay: true}, "demo", "good")
	r.echoes("good")
	r.req(capOf("never") + ";of=demo")
	r.req(capOf("call")+";of=demo", meta("peer", "cap:elsewhere"))
	r.newReq()
	r.event(Started)
	was := *r.h.Inventory()[0].Stats.PID
	require.NoError(t, r.conn.Close())
	<-r.ran
	s := r.h.Stats()
	require.Zero(t, s.IncomingRXIDs+s.OutgoingRIDs)
	r.mu.Lock()
	r.notes, r.frames = nil, nil
	r.mu.Unlock()

	r.run()
	require.Equal(t, was, *r.h.Inventory()[0].Stats.PID)
	r.echoes("demo")
	r.idle()
	require.Len(t, r.processes(), 2)
}

// Without it the next Run starts them anew.
func TestRunAgain(t *testing.T) {
	r := startRig(t, nil, "demo")
	r.echoes("demo")
	was := *r.h.Inventory()[0].Stats.PID
	require.NoError(t, r.conn.Close())
	<-r.ran
	r.noProcesses()
	r.run()
	r.echoes("demo")
	require.NotEqual(t, was, *r.h.Inventory()[0].Stats.PID)
}

// A host without a cap says so; a switch would refuse it.
func TestNothingToOffer(t *testing.T) {
	require.ErrorIs(t, New(nil).Run(t.Context(), closed(t)), ErrNothing)
	r := newRig(t, &Options{AllowEmpty: true})
	r.run()
	require.NoError(t, r.h.Register(r.registration("demo")))
	r.echoes("demo")
}

// Requirements: N1, N2
// What is announced: all caps as a flat list, identity among them, records with figures, the limits, the counters.
func TestAnnouncementContent(t *testing.T) {
	r := startRig(t, nil, "demo/small", "good")
	r.echoes("demo")
	n := r.note(func(n *manifest.Inventory) bool { return n.Records[0].Stats.Running })
	require.NoError(t, n.Check(false))
	require.True(t, caps.HasIdentity(n.Caps))
	demo, good := n.Records[0], n.Records[1]
	require.Equal(t, manifest.LifecycleOperational, demo.Lifecycle)
	require.Equal(t, uint64(r.processes()[0]), *demo.Stats.PID)
	require.Contains(t, demo.Stats.Pools, manifest.PoolAll)
	require.Contains(t, demo.Stats.Pools, caps.Identity)
	require.False(t, good.Stats.Running)
	require.NotEmpty(t, good.Groups)
	var counters stats.Host
	require.NoError(t, json.Unmarshal(n.HostStats, &counters))

	q := r.req(capOf("call-leave")+";of=demo", meta("peer", "cap:elsewhere"))
	r.newReq()
	n = r.note(func(n *manifest.Inventory) bool { return n.Records[0].Stats.PeerRequests == 1 })
	require.Equal(t, uint64(1), n.Records[0].Stats.ActiveRequests)
	require.NoError(t, json.Unmarshal(n.HostStats, &counters))
	require.Equal(t, stats.Host{
		Drops: counters.Drops, Stragglers: counters.Stragglers,
		OutgoingRIDs: 1, IncomingRXIDs: 1, IncomingToPeerRIDs: 1, OutgoingMaxSeq: 1,
	}, counters)
	q.cancel("CANCELLED", frame.AttributionUser, "Cancelled by user")
}

// A host serves a slave of the caller's, whose state it reads.
func TestRunBehind(t *testing.T) {
	relaytest.NoLeaks(t)
	r := newRig(t, nil)
	require.NoError(t, r.h.Register(r.registration("demo")))
	near, far, err := relaytest.SocketPair()
	require.NoError(t, err)
	local, behind := relaytest.BufferedPipe(1 << 16)
	slave := bridge.NewSlave(local, nil)
	carried := make(chan error, 1)
	go func() { carried <- slave.Run(t.Context(), far, nil) }()
	r.conn, r.out, r.ran = near, frame.NewWriter(near, nil), make(chan error, 1)
	go r.read(near)
	go func() { r.ran <- r.h.RunBehind(t.Context(), behind, slave.State()) }()
	r.note(func(n *manifest.Inventory) bool { return len(n.Records) == 1 })
	s := frame.NewRelayState([]byte("gpu 0"))
	r.send(&s)
	r.echoes("demo")
	require.Eventually(t, func() bool { return len(r.told("demo")) > 3 }, patience, time.Millisecond)
	require.Contains(t, r.told("demo"), "state gpu 0")
	require.NoError(t, near.CloseWrite())
	require.NoError(t, <-r.ran)
	require.NoError(t, <-carried)
	near.Close()
	r.noProcesses()
}

// A switch that numbers nothing, and makes its first check of identity without a routing id.
func TestUnnumberedSwitch(t *testing.T) {
	r := startRig(t, &Options{Unnumbered: true}, "demo")
	id := frame.NewUUID()
	a := &actor{}
	k := req{Key: keyOf(id), r: r}
	first := frame.NewReq(id, []byte(caps.Identity))
	end := frame.NewBodyEnd(id)
	for _, f := range append(append([]*frame.Frame{&first}, a.stream(k.Key, "arg0", "nonce")...), &end) {
		f.Seq = 0
		require.NoError(t, r.out.Write(f))
	}
	require.NoError(t, r.out.Flush())
	chunk := r.next(id, frame.TypeChunk)
	require.True(t, chunk.RoutingID.IsZero())
	require.Equal(t, "nonce", string(chunk.Payload))
	k.end()
	r.idle()
	r.echoes("demo")
}

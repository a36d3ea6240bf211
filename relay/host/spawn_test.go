package host

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// A cartridge is started by the first request for it, once for many, and what waits goes to it in order.
func TestSpawnOnDemandOnceForManyRequests(t *testing.T) {
	r := startRig(t, nil, "demo")
	require.Empty(t, r.processes(), "a process before the first request")
	require.Contains(t, r.h.Caps(), capOf("echo"), "a cartridge that was not started can be asked for")
	var all []req
	for range 50 {
		all = append(all, r.req(capOf("echo")).body("x"))
	}
	for _, q := range all {
		start := r.next(q.RID, frame.TypeStreamStart)
		require.Equal(t, uint64(0), start.Seq)
		require.Equal(t, q.XID, start.RoutingID)
		q.end()
	}
	r.event(Started)
	require.Len(t, r.processes(), 1)
	require.Empty(t, r.events)
	r.idle()
}

// The start of one cartridge, which takes its time, does not keep others waiting.
func TestSpawnBlocksNobody(t *testing.T) {
	r := startRig(t, &Options{HelloLimit: 5 * time.Second}, "demo/mute", "good")
	q := r.req(capOf("echo") + ";of=demo").body("x")
	for range 5 {
		r.echoes("good")
	}
	f := q.err(codeSpawnFailed, frame.AttributionEnvironment)
	require.Contains(t, message(f), "could not be greeted in time (5s)")
	require.Equal(t, manifest.HandshakeFailed, r.h.Inventory()[0].AttachmentError.Kind)
	r.echoes("good")
}

// Those that hang are in TestStartLimits.
func TestSpawnFailures(t *testing.T) {
	for _, c := range []struct {
		behaviour string
		kind      manifest.AttachmentKind
		says      string
	}{
		{"exit", manifest.HandshakeFailed, "exited with status 3; last lines of its stderr: no licence"},
		{"not-hello", manifest.HandshakeFailed, "heartbeat"},
		{"version", manifest.HandshakeFailed, "version 5"},
		{"no-manifest", manifest.HandshakeFailed, "no manifest"},
		{"no-pools", manifest.HandshakeFailed, "pools"},
		{"bad-pools", manifest.HandshakeFailed, "pools"},
		{"bad-manifest", manifest.ManifestInvalid, "its manifest"},
		{"no-identity", manifest.Incompatible, "its manifest"},
		{"wrong-echo", manifest.IdentityRejected, "is not what was sent"},
		{"identity-policy", manifest.IdentityRejected, "a policy in it"},
		{"identity-fail", manifest.IdentityRejected, "HANDLER_ERROR: has no identity"},
		{"identity-exit", manifest.IdentityRejected, "exited with status 5"},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			r := startRig(t, nil, "demo/"+c.behaviour, "good")
			r.echoes("good")
			first := r.req(capOf("echo") + ";of=demo")
			second := r.req(capOf("echo") + ";of=demo").body("x")
			for _, q := range []req{first, second} {
				f := q.err(codeSpawnFailed, frame.AttributionEnvironment)
				require.Equal(t, uint64(0), f.Seq)
				require.Contains(t, message(f), `cartridge "demo" 1.2.3 cannot be started: `)
				require.Contains(t, message(f), c.says)
			}
			r.failedWith(c.kind)
			r.echoes("good")
			r.idle()
			require.Len(t, r.processes(), 1)
			require.Zero(t, r.h.Stats().Drops.Total)
		})
	}
}

// failedWith checks what is announced of a cartridge demo that could not be started, and how requests for it end.
func (r *rig) failedWith(kind manifest.AttachmentKind) {
	r.t.Helper()
	n := r.note(func(n *manifest.Inventory) bool { return n.Records[0].AttachmentError != nil })
	require.Equal(r.t, kind, n.Records[0].AttachmentError.Kind)
	require.NotZero(r.t, n.Records[0].AttachmentError.DetectedAt)
	require.Empty(r.t, n.Records[0].Groups)
	require.NotNil(r.t, n.Records[0].Stats)
	for _, c := range n.Caps {
		require.NotContains(r.t, c.String(), "of=demo")
	}
	e := r.event(Failed)
	require.Equal(r.t, "demo", e.Install.ID)
	r.req(capOf("echo")+";of=demo").err(codeNoHandler, frame.AttributionEnvironment)
	r.req(capOf("echo"), meta("target_cartridge", "demo")).err(codeUnavailable, frame.AttributionEnvironment)
}

func TestSpawnWithoutProgram(t *testing.T) {
	r := startRig(t, nil, "good")
	reg := r.registration("demo")
	reg.Provider = Program(nil, Command{Path: "/there/is/no/such/program"})
	require.NoError(t, r.h.Register(reg))
	f := r.req(capOf("echo")+";of=demo").err(codeSpawnFailed, frame.AttributionEnvironment)
	require.Contains(t, message(f), "no such file")
	n := r.note(func(n *manifest.Inventory) bool { return len(n.Records) == 2 && n.Records[1].AttachmentError != nil })
	require.Equal(t, manifest.EntryPointMissing, n.Records[1].AttachmentError.Kind)
	r.echoes("good")
}

// A provider that does not keep to its context holds up nobody, and what it returns in the end is killed.
func TestSpawnByProviderThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startBubble(t, nil, "good")
		release, opened := make(chan struct{}), make(chan Link, 1)
		reg := r.served("demo")
		handlers := reg.Provider
		reg.Provider = openFunc(func(context.Context) (Link, error) {
			<-release
			l, err := handlers.Open(context.Background())
			opened <- l
			return l, err
		})
		require.NoError(t, r.h.Register(reg))
		q := r.req(capOf("echo") + ";of=demo")
		r.echoes("good")
		f := q.err(codeSpawnFailed, frame.AttributionEnvironment)
		require.Contains(t, message(f), "it did not start in time (15s)")
		require.Equal(t, manifest.EntryPointMissing, r.h.Inventory()[1].AttachmentError.Kind)
		close(release)
		<-(<-opened).Done()
		r.echoes("good")
	})
}

type openFunc func(context.Context) (Link, error)

func (f openFunc) Open(ctx context.Context) (Link, error) { return f(ctx) }

// LOG, CREDIT and HEARTBEAT may come during the check of identity, and the answer to an earlier one, and the echo may
// be cut in another way; older peers tell a number instead of pools.
func TestSpawnOfUnusualCartridges(t *testing.T) {
	for _, behaviour := range []string{"identity-noise", "identity-late", "identity-pieces", "capacity", "small"} {
		t.Run(behaviour, func(t *testing.T) {
			r := startRig(t, nil, "demo/"+behaviour)
			r.echoes("demo")
			n := r.note(func(n *manifest.Inventory) bool { return n.Records[0].Stats.Running })
			all := n.Records[0].Stats.Pools[manifest.PoolAll]
			switch behaviour {
			case "capacity":
				require.Equal(t, uint64(4), all.Configured)
				require.Contains(t, n.Records[0].Stats.Pools, caps.Identity)
			case "small":
				require.Equal(t, frame.Limits{MaxFrame: 20_000, MaxChunk: 1000, MaxReorderBuffer: 16, InitialCredit: 8}, r.h.Limits())
			}
		})
	}
}

// A frame that is longer than what a cartridge takes ends its request alone.
func TestFrameTooLargeForCartridge(t *testing.T) {
	r := startRig(t, nil, "demo/small", "good")
	for range 2 { // the first one waits for the start, before the limit is known
		q := r.req(capOf("echo") + ";of=demo").body(string(make([]byte, 30_000)))
		q.err(codeFrameTooLarge, frame.AttributionInternal)
		r.echoes("demo")
		r.echoes("good")
	}
	r.idle()
}

func TestInspect(t *testing.T) {
	r := newRig(t, nil)
	m, err := Inspect(t.Context(), r.program("demo"), nil)
	require.NoError(t, err)
	require.Equal(t, "demo", m.Name)
	require.Len(t, m.Groups[0].Caps, 1+2*len(dos))
	r.noProcesses()

	_, err = Inspect(t.Context(), r.program("demo/no-identity"), nil)
	var failed *StartError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, manifest.Incompatible, failed.Kind)
	r.noProcesses()

	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
	_, err = Inspect(ctx, r.program("demo/mute"), nil)
	require.ErrorIs(t, err, cause)
	r.noProcesses()
}

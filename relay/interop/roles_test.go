package interop

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const mebibyte = 1 << 20

// body returns a mebibyte of random bytes, and the same with each bit turned over.
func body() (plain, inverted []byte) {
	random := rand.NewChaCha8([32]byte{1})
	plain, inverted = make([]byte, mebibyte), make([]byte, mebibyte)
	random.Read(plain)
	for i, b := range plain {
		inverted[i] = ^b
	}
	return plain, inverted
}

func (r *rig) identity(t *testing.T) {
	sent, _ := body()
	a := r.engine.call(t, invocation{Cap: identity, Media: "media:", Body: sent[:100], Piece: 1 << 18})
	succeeded(t, a)
	assert.Equal(t, sent[:100], a.Body)
}

// stream moves more CHUNKs than the initial credit has, in both directions at once.
func (r *rig) stream(t *testing.T) {
	sent, want := body()
	const piece = 16 << 10
	a := r.engine.call(t, invocation{Cap: capURN("invert"), Media: media, Body: sent, Piece: piece})
	succeeded(t, a)
	assert.True(t, bytes.Equal(want, a.Body), "%d bytes came back, not the %d inverted ones", len(a.Body), len(want))
	assert.GreaterOrEqual(t, a.Chunks, mebibyte/piece)
}

// fails calls a handler that fails. What their runtime makes of an error that has a code and a
// class is always the same code and class, with the code in the text.
func (r *rig) fails(t *testing.T) {
	a := r.engine.call(t, invocation{Cap: capURN("fail"), Media: media, Body: []byte("x"), Piece: 1 << 18})
	want := answer{Terminal: "err", Code: "INTEROP_REFUSED", Class: "input", Message: "refused as it was asked to"}
	if r.cartridgeBy == byThem {
		want = answer{Terminal: "err", Code: "HANDLER_ERROR", Class: "internal", Message: "INTEROP_REFUSED: refused as it was asked to"}
	}
	assert.Equal(t, want, answer{Terminal: a.Terminal, Code: a.Code, Class: a.Class, Message: a.Message})
}

// peerCall calls a cap whose handler calls a cap of the other cartridge, with more than a CHUNK.
func (r *rig) peerCall(t *testing.T) {
	sent, want := body()
	const size = 300_000
	a := r.engine.call(t, invocation{Cap: capURN("forward"), Media: media, Body: sent[:size]})
	succeeded(t, a)
	assert.True(t, bytes.Equal(want[:size], a.Body), "%d bytes came back, not the %d inverted ones", len(a.Body), size)
}

// death calls a handler that ends its process, which is started again for the next request. Their
// host says so in an ERR without routing id, which their switch sends back to it.
func (r *rig) death(t *testing.T) {
	if r.switchBy == byThem && r.hostBy == byThem {
		return
	}
	a := r.engine.call(t, invocation{Cap: capURN("die"), Media: media, Body: []byte("x")})
	assert.Equal(t, []string{"err", "CARTRIDGE_DIED", "environment"}, []string{a.Terminal, a.Code, a.Class}, a)
	r.inverts(t)
}

// inverts finds that the cartridge called far works.
func (r *rig) inverts(t *testing.T) {
	t.Helper()
	a := r.engine.call(t, invocation{Cap: capURN("invert"), Media: media, Body: []byte{0}})
	succeeded(t, a)
	assert.Equal(t, []byte{255}, a.Body)
}

// orphan calls a cap whose handler calls a cap that nobody has. In their switch that is the end of
// what reads the hosts, and no answer comes.
func (r *rig) orphan(t *testing.T) {
	a := r.engine.call(t, invocation{Cap: capURN("orphan"), Media: media, Body: []byte("x")})
	switch {
	case r.switchBy == byThem:
		assert.Equal(t, "NoHandlerError: No handler for cap: "+capURN("nobody"), a.Error)
	case r.cartridgeBy == byThem:
		assert.Equal(t, []string{"err", "HANDLER_ERROR", "internal"}, []string{a.Terminal, a.Code, a.Class}, a)
		assert.Contains(t, a.Message, capURN("nobody"))
	default:
		assert.Equal(t, []string{"err", "NO_HANDLER", "environment"}, []string{a.Terminal, a.Code, a.Class}, a)
	}
}

// cancel cancels a request whose handler waits. Through their host it ends at the switch alone:
// their host has no branch for CANCEL and drops it, so the handler waits on.
func (r *rig) cancel(t *testing.T) {
	a := r.engine.call(t, invocation{Cap: capURN("wait"), Media: media, Cancel: true})
	assert.Equal(t, []string{"waiting"}, a.Logs)
	if r.switchBy == byThem { // it has no channel for the ERR, only a record of how the request ended
		assert.Equal(t, "cancelled", a.Terminal, a)
	} else {
		assert.Equal(t, []string{"err", "CANCELLED", "user"}, []string{a.Terminal, a.Code, a.Class})
	}
	if r.hostBy == byUs {
		r.says(t, "wait ended")
	}
	r.identity(t)
}

func succeeded(t *testing.T, a answer) {
	t.Helper()
	require.Empty(t, a.Error)
	require.Equal(t, "end", a.Terminal, "%s/%s: %s", a.Code, a.Class, a.Message)
	require.NotNil(t, a.ExitCode)
	require.Zero(t, *a.ExitCode)
}

// all are the caps of a rig.
func all() []string {
	caps := []string{identity}
	for _, op := range []string{"die", "fail", "forward", "invert", "orphan", "wait"} {
		caps = append(caps, capURN(op))
	}
	return caps
}

// everyCase runs what each rig has to do.
func (r *rig) everyCase(t *testing.T) {
	require.Equal(t, all(), r.engine.caps(t))
	for _, c := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"identity", r.identity},
		{"one MiB each way", r.stream},
		{"an ERR", r.fails},
		{"a peer call", r.peerCall},
		{"a cancel", r.cancel},
		{"a death", r.death},
		{"a peer call that nobody serves", r.orphan}, // the last, since their switch does not go on
	} {
		if !t.Run(c.name, c.run) {
			return
		}
	}
	r.close(t)
}

// The pairs of the two implementations, and theirs by itself: what fails there is no matter of ours.
//
// Requirements: R1, C1, C2, C3, C4
func TestEveryPairOfRoles(t *testing.T) {
	t.Parallel()
	for _, p := range []parts{
		{byThem, byThem, byThem},
		{byUs, byThem, byThem},
		{byUs, byThem, byUs},
		{byUs, byUs, byThem},
		{byThem, byUs, byUs},
		{byThem, byUs, byThem},
		{byThem, byThem, byUs},
	} {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			assemble(t, &rig{parts: p, peer: findPeer(t, envV4)}).everyCase(t)
		})
	}
}

// The newest release speaks version 6, but nothing of it looks at the version except the check of
// HELLO: with our number it works, and wants a policy.
//
// Requirements: R1, C1, C2, C3, C4, PO1
func TestPairsWithTheNewestRelease(t *testing.T) {
	t.Parallel()
	for _, p := range []parts{
		{byUs, byThem, byThem},
		{byUs, byUs, byThem},
		{byThem, byUs, byUs},
		{byThem, byThem, byUs},
	} {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			r := &rig{parts: p, peer: findPeer(t, envNewest), policy: "no_telemetry", flags: ourVersion()}
			assemble(t, r).everyCase(t)
		})
	}
}

// A peer call that comes back to the host that it came from. (Their host loses it.)
//
// Requirement: C4
func TestPeerCallsOnOneHost(t *testing.T) {
	t.Parallel()
	for _, p := range []parts{{byThem, byUs, byUs}, {byUs, byUs, byThem}} {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			r := assemble(t, &rig{parts: p, peer: findPeer(t, envV4), on: [][]cartridgeOf{{near, far}}})
			require.Equal(t, all(), r.engine.caps(t))
			r.peerCall(t)
			r.close(t)
		})
	}
}

package interop

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/route"
)

// firstBody reads a frame's body as it is.
func firstBody(t *testing.T, in io.Reader) []byte {
	t.Helper()
	prefix := make([]byte, 4)
	_, err := io.ReadFull(in, prefix)
	require.NoError(t, err)
	body := make([]byte, binary.BigEndian.Uint32(prefix))
	_, err = io.ReadFull(in, body)
	require.NoError(t, err)
	return body
}

// isVersion6 looks at the first bytes of a frame of the newest release: a map of five entries, key 0,
// version, with 6, then type, id 0 and seq 0. Nothing of ours takes it.
func isVersion6(t *testing.T, body []byte, typ frame.Type) {
	t.Helper()
	assert.Equal(t, []byte{0xa5, 0x00, 0x06, 0x01, byte(typ), 0x02, 0x00, 0x03, 0x00}, body[:9])
}

// The newest host speaks version 6 to the switch, and to a cartridge, which here is a program that
// keeps the start of its HELLO.
func TestTheNewestHostSpeaksVersion6(t *testing.T) {
	t.Parallel()
	r := &rig{parts: parts{byUs, byThem, byThem}, peer: findPeer(t, envNewest)}
	r.prepare(t)
	hello, program := filepath.Join(r.dir, "hello"), filepath.Join(r.dir, "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nhead -c 13 > '"+hello+"'\n"), 0o700))
	s := r.bareSwitch(t, program, far)
	notify := firstBody(t, s.conn)
	isVersion6(t, notify, frame.TypeRelayNotify)
	assert.ErrorIs(t, frame.Decode(notify, new(frame.Frame)), frame.ErrInvalidFrame)

	s.send(t, policyFrame(t))
	s.request(t, identity, frame.Number(1), "x")
	assert.Equal(t, []byte{0x00, 0x06, 0x01, byte(frame.TypeErr)}, firstBody(t, s.conn)[1:5], "SPAWN_FAILED")
	start, err := os.ReadFile(hello)
	require.NoError(t, err)
	require.Len(t, start, 13)
	isVersion6(t, start[4:], frame.TypeHello)
}

func TestTheNewestSwitchSpeaksVersion6(t *testing.T) {
	t.Parallel()
	_, b := bareHostOf(t, findPeer(t, envNewest), "full", inventory(stats))
	isVersion6(t, firstBody(t, b.conn), frame.TypePolicy)
}

// The newest cartridge does not answer a HELLO of ours.
func TestTheNewestCartridgeRefusesOurVersion(t *testing.T) {
	t.Parallel()
	hello, err := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
	require.NoError(t, err)
	cmd := findPeer(t, envNewest).program(t, "capdag_cartridge.py", "a")
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	link{Writer: frame.NewWriter(stdin, nil)}.send(t, &hello)
	answer, err := io.ReadAll(stdout)
	require.NoError(t, err)
	assert.Empty(t, answer)
	require.Error(t, cmd.Wait())
	assert.Contains(t, cmd.Stderr.(*spoken).String(), "protocol version mismatch: ours 6, theirs 4")
}

// So no pair of ours and the newest release as it is gets anywhere. Each of ours says why.

func TestOurSwitchRefusesTheNewestHost(t *testing.T) {
	t.Parallel()
	s := bareSwitchOf(t, findPeer(t, envNewest), far)
	_, err := route.New(t.Context(), []route.Socket{{ID: "a", Conn: s.conn}}, nil)
	require.ErrorIs(t, err, frame.ErrInvalidFrame)
	assert.ErrorContains(t, err, "version 6")
}

func TestOurHostRefusesTheNewestSwitch(t *testing.T) {
	t.Parallel()
	r := &rig{parts: parts{byThem, byUs, byUs}, peer: findPeer(t, envNewest), policy: "full", on: [][]cartridgeOf{{far}}}
	h := assemble(t, r).hosts[0].(*ourHost)
	err := <-h.done
	require.ErrorIs(t, err, frame.ErrInvalidFrame)
	assert.ErrorContains(t, err, "version 6")
}

func TestOurHostCannotStartTheNewestCartridge(t *testing.T) {
	t.Parallel()
	r := &rig{parts: parts{byUs, byUs, byThem}, peer: findPeer(t, envNewest)}
	r.prepare(t)
	program := host.Program(nil, host.Command{Path: r.script(t, far)})
	_, err := host.Inspect(t.Context(), program, &host.Options{HelloLimit: callLimit})
	var failure *host.StartError
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, manifest.HandshakeFailed, failure.Kind)
}

func TestTheNewestHostCannotStartOurCartridge(t *testing.T) {
	t.Parallel()
	r := &rig{parts: parts{byThem, byThem, byUs}, peer: findPeer(t, envNewest), policy: "full", on: [][]cartridgeOf{{far}}}
	e := assemble(t, r).engine.(*theirEngine)
	var line struct{ Error string }
	require.NoError(t, e.lines.Decode(&line))
	assert.Contains(t, line.Error, "SPAWN_FAILED handshake failed: connection closed before receiving HELLO")
}

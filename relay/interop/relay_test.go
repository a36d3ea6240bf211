package interop

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
)

const announced = `{"caps": ["cap:effect=none"], "installed_cartridges": []}`

// A relayPeer is the peer's program as one end of a relay socket.
type relayPeer struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	socket *net.UnixConn // our end
	said   *spoken       // on standard error
}

// startRelay starts the peer's program in the mode slave or master and waits until it is
// connected.
func startRelay(t *testing.T, p *peer, mode string, args ...string) *relayPeer {
	t.Helper()
	path := filepath.Join(t.TempDir(), "socket")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	defer listener.Close()
	r := &relayPeer{cmd: p.command(t, append([]string{mode, path}, args...)...)}
	r.said = r.cmd.Stderr.(*spoken)
	r.stdin, err = r.cmd.StdinPipe()
	require.NoError(t, err)
	r.stdout, err = r.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, r.cmd.Start())
	r.socket, err = listener.AcceptUnix()
	require.NoError(t, err)
	t.Cleanup(func() { r.socket.Close() })
	return r
}

// wait waits for the end of the program and returns the kind of the error that it ended with.
func (r *relayPeer) wait(t *testing.T) frame.Kind {
	t.Helper()
	err := r.cmd.Wait()
	if err == nil {
		return ""
	}
	var v verdict
	require.NoError(t, json.Unmarshal([]byte(r.said.String()), &v), "%v: %s", err, r.said)
	require.NotEmpty(t, v.Error)
	return v.Error
}

// ourVersion makes the newest peer write our version into the frames that it makes.
func ourVersion() []string {
	return []string{"--version", strconv.Itoa(frame.Version)}
}

// link is one half of a host's or switch's own end: frames that it writes and reads.
type link struct {
	*frame.Writer
	*frame.Reader
}

func (l link) send(t *testing.T, frames ...*frame.Frame) {
	t.Helper()
	for _, f := range frames {
		require.NoError(t, l.Write(f))
	}
	require.NoError(t, l.Flush())
}

// expect reads the frames that are due.
func (l link) expect(t *testing.T, frames ...*frame.Frame) {
	t.Helper()
	for i, want := range frames {
		got, err := l.Next()
		require.NoError(t, err, "frame %d", i)
		require.Equal(t, want, got, "frame %d", i)
	}
}

// request returns the frames of a request body, numbered.
func request() []*frame.Frame {
	id, xid := frame.NewUUID(), frame.Number(7)
	return []*frame.Frame{
		{Type: frame.TypeReq, ID: id, RoutingID: xid, Cap: []byte("cap:effect=none"), Payload: []byte{}, ContentType: []byte("application/cbor")},
		{Type: frame.TypeStreamStart, ID: id, RoutingID: xid, Seq: 1, StreamID: []byte("s"), MediaURN: []byte("media:")},
		{Type: frame.TypeChunk, ID: id, RoutingID: xid, Seq: 2, StreamID: []byte("s"), Payload: bytes.Repeat([]byte{5}, 100_000), ChunkIndex: frame.Some[uint64](0), Checksum: frame.Some[uint64](1 << 63)},
		{Type: frame.TypeStreamEnd, ID: id, RoutingID: xid, Seq: 3, StreamID: []byte("s"), ChunkCount: frame.Some[uint64](1)},
		{Type: frame.TypeEnd, ID: id, RoutingID: xid, Seq: 4, EOF: frame.Some(true)},
	}
}

func heartbeat() *frame.Frame { return &frame.Frame{Type: frame.TypeHeartbeat, ID: frame.NewUUID()} }

func policyFrame(t *testing.T) *frame.Frame {
	return &frame.Frame{Type: frame.TypePolicy, ID: frame.Number(0), Meta: networkMeta(t, "no_telemetry")}
}

func notifyFrame(t *testing.T, text string, limits frame.Limits) *frame.Frame {
	f, err := frame.NewRelayNotify(frame.Notify{Manifest: []byte(text), Limits: limits})
	require.NoError(t, err)
	return &f
}

// connect makes a master of our end of a slave of the peer's.
func connect(t *testing.T, r *relayPeer, o *bridge.MasterOptions) *bridge.Master {
	t.Helper()
	m, err := bridge.Connect(t.Context(), r.socket, o)
	require.NoError(t, err)
	t.Cleanup(func() { m.Close() })
	return m
}

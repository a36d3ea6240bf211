package route_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/pipe"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// A host is the far end of a master's socket, driven by a test frame by frame. Every frame that it reads has to have
// the number that is due in its flow.
type host struct {
	t     testing.TB
	conn  io.ReadWriteCloser
	in    *frame.Reader
	out   *frame.Writer
	order *flow.ReorderBuffer
	seq   *flow.SeqAssigner
}

func newHost(t testing.TB, conn io.ReadWriteCloser) *host {
	t.Cleanup(func() { conn.Close() })
	return &host{
		t: t, conn: conn, in: frame.NewReader(conn, nil), out: frame.NewWriter(conn, nil),
		order: flow.NewReorderBuffer(0, nil), seq: flow.NewSeqAssigner(nil),
	}
}

// patience is how long a test waits for a frame before it fails.
const patience = 20 * time.Second

// sockets returns the two ends of a socket pair, that of the switch and that of a host.
func sockets(t testing.TB) (io.ReadWriteCloser, io.ReadWriteCloser) {
	near, far, err := relaytest.SocketPair()
	require.NoError(t, err)
	return near, far
}

// pipes returns the two ends of a connection in memory, for a bubble.
func pipes() (io.ReadWriteCloser, io.ReadWriteCloser) { return pipe.New(0) }

// next returns the next frame.
func (h *host) next() *frame.Frame {
	h.t.Helper()
	f, err := h.read()
	require.NoError(h.t, err)
	return f
}

func (h *host) read() (*frame.Frame, error) {
	if c, ok := h.conn.(net.Conn); ok {
		c.SetReadDeadline(time.Now().Add(patience))
	}
	f, err := h.in.Next()
	if err != nil {
		return nil, err
	}
	head := f.Head()
	ready, err := h.order.Accept(&head, h.in.Wire())
	if err != nil || !ready {
		h.t.Errorf("%s %s/%s number %d is out of order: %v", f.Type, f.ID, f.RoutingID, f.Seq, err)
	}
	if f.Type.Terminal() {
		h.order.Cleanup(flow.KeyOf(head))
	}
	return f.Clone(), nil
}

// expect returns the next frame, which has to be of a type.
func (h *host) expect(want frame.Type) *frame.Frame {
	h.t.Helper()
	f := h.next()
	require.Equal(h.t, want, f.Type, "frame %s/%s: %+v", f.ID, f.RoutingID, f)
	return f
}

// ends asserts that the switch closes the socket, and sends nothing before.
func (h *host) ends() {
	h.t.Helper()
	f, err := h.read()
	require.Error(h.t, err, "got %+v", f)
}

// send writes a frame with the number that is due.
func (h *host) send(f frame.Frame) {
	h.t.Helper()
	h.seq.Assign(&f)
	require.NoError(h.t, h.out.Write(&f))
	require.NoError(h.t, h.out.Flush())
	if f.Type.Terminal() {
		h.seq.Remove(flow.Key{RID: f.ID, XID: f.RoutingID})
	}
}

// routed returns a frame with a routing id.
func routed(f frame.Frame, xid frame.ID) frame.Frame {
	f.RoutingID = xid
	return f
}

// announce writes a RELAY_NOTIFY with caps and the default limits.
func (h *host) announce(urns ...string) { h.announceWith(frame.DefaultLimits(), manifestOf(urns...)) }

func (h *host) announceWith(l frame.Limits, manifest string) {
	h.t.Helper()
	f, err := frame.NewRelayNotify(frame.Notify{Manifest: []byte(manifest), Limits: l})
	require.NoError(h.t, err)
	h.send(f)
}

// manifestOf returns a manifest without records.
func manifestOf(urns ...string) string {
	if urns == nil {
		urns = []string{}
	}
	text, _ := json.Marshal(map[string]any{"caps": urns, "installed_cartridges": []any{}})
	return string(text)
}

// identify reads an identity check and returns its REQ.
func (h *host) identify() *frame.Frame {
	h.t.Helper()
	req := h.expect(frame.TypeReq)
	require.Equal(h.t, caps.Identity, string(req.Cap))
	require.Equal(h.t, "application/cbor", string(req.ContentType))
	require.Empty(h.t, req.Payload)
	start := h.expect(frame.TypeStreamStart)
	require.Equal(h.t, "media:", string(start.MediaURN))
	require.False(h.t, start.IsSequence.IsSet())
	chunk := h.expect(frame.TypeChunk)
	require.Equal(h.t, "\x66bifaci", string(chunk.Payload))
	require.Equal(h.t, frame.Some[uint64](736714829954602365), chunk.Checksum)
	require.Equal(h.t, frame.Some[uint64](1), h.expect(frame.TypeStreamEnd).ChunkCount)
	end := h.expect(frame.TypeEnd)
	require.Equal(h.t, frame.Some(true), end.EOF)
	require.False(h.t, end.EndInfo().ExitCode.IsSet())
	for _, f := range []*frame.Frame{start, chunk, end} {
		require.Equal(h.t, [2]frame.ID{req.ID, req.RoutingID}, [2]frame.ID{f.ID, f.RoutingID})
	}
	return req
}

// echo answers an identity check.
func (h *host) echo(req *frame.Frame, payload string) {
	h.t.Helper()
	id := []byte("out")
	h.send(routed(frame.NewStreamStart(req.ID, id, []byte("media:")), req.RoutingID))
	h.send(routed(frame.NewChunk(req.ID, id, 0, []byte(payload), flow.Checksum([]byte(payload))), req.RoutingID))
	h.send(routed(frame.NewStreamEnd(req.ID, id, frame.Some[uint64](1)), req.RoutingID))
	h.end(req)
}

const nonce = "\x66bifaci"

// end ends a response with success.
func (h *host) end(req *frame.Frame) {
	h.t.Helper()
	end, err := frame.NewEnd(req.ID, frame.EndInfo{ExitCode: frame.Some[int64](0)})
	require.NoError(h.t, err)
	h.send(routed(end, req.RoutingID))
}

// fail ends a response with an ERR.
func (h *host) fail(req *frame.Frame, code string) {
	h.t.Helper()
	h.send(routed(newErr(h.t, req.ID, code), req.RoutingID))
}

func newErr(t testing.TB, id frame.ID, code string) frame.Frame {
	f, err := frame.NewErr(id, frame.ErrInfo{
		Code: []byte(code), Attribution: frame.AttributionInput, Message: []byte("it does not work"),
	})
	require.NoError(t, err)
	return f
}

// hello announces caps, and answers the identity check that comes if there are some.
func (h *host) hello(urns ...string) {
	h.t.Helper()
	h.announce(urns...)
	if len(urns) > 0 {
		h.echo(h.identify(), nonce)
	}
}

// nothing asserts that the switch has sent the host nothing more: a state that it is told to send comes next.
func (h *host) nothing(s *route.Switch, id string) {
	h.t.Helper()
	require.NoError(h.t, s.SendState(id, []byte("marker")))
	f := h.next()
	require.Equal(h.t, frame.TypeRelayState, f.Type, "frame %s/%s: %+v", f.ID, f.RoutingID, f)
	require.Equal(h.t, "marker", string(f.Payload))
}

// settle returns when the switch has handled all that the host sent so far: it asks for what nobody serves, and waits
// for the refusal.
func (h *host) settle() {
	h.t.Helper()
	h.send(frame.NewReq(frame.NewUUID(), []byte("cap:nobody-serves-this")))
	f := h.expect(frame.TypeErr)
	info, err := f.ErrInfo()
	require.NoError(h.t, err)
	require.Equal(h.t, "NO_HANDLER", string(info.Code))
}

// Caps of the tests.
const (
	identity = caps.Identity
	echoCap  = `cap:echo;in="media:";out="media:"`
	hashCap  = `cap:hash;in="media:";out="media:"`
	sortCap  = `cap:sort;in="media:";out="media:"`
)

// newSwitch returns a switch without masters that is closed at the end of the test.
func newSwitch(t testing.TB, o *route.Options) *route.Switch {
	s, err := route.New(t.Context(), nil, o)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// join adds a master to a switch whose host offers caps, over sockets.
func join(t testing.TB, s *route.Switch, id string, urns ...string) *host {
	t.Helper()
	near, far := sockets(t)
	return joinOver(t, s, id, near, far, func(h *host) { h.hello(urns...) })
}

// joinOver adds a master whose host does something until it has joined.
func joinOver(t testing.TB, s *route.Switch, id string, near, far io.ReadWriteCloser, do func(h *host)) *host {
	t.Helper()
	h := newHost(t, far)
	joined := make(chan error, 1)
	go func() {
		_, err := s.AddMaster(context.Background(), id, near)
		joined <- err
	}()
	do(h)
	require.NoError(t, <-joined)
	return h
}

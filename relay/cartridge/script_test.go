package cartridge_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/pipe"
)

// A script is a host that a test plays, frame by frame.
type script struct {
	t      *testing.T
	conn   io.ReadWriteCloser
	in     *frame.Reader
	out    *frame.Writer
	seq    flow.SeqAssigner
	served chan error
}

// start serves a cartridge and does not greet it.
func start(t *testing.T, c *cartridge.Cartridge) *script {
	near, far := pipe.New(0)
	s := script{t: t, conn: near, in: frame.NewReader(near, nil), out: frame.NewWriter(near, nil), served: make(chan error, 1)}
	go func() { s.served <- c.Serve(context.Background(), far) }()
	t.Cleanup(func() { near.Close() })
	return &s
}

// greeted serves a cartridge that has got its HELLO, with credit for some CHUNKs.
func greeted(t *testing.T, c *cartridge.Cartridge, credit uint64) *script {
	s := start(t, c)
	limits := frame.DefaultLimits()
	limits.InitialCredit = credit
	s.hello(limits)
	return s
}

func (s *script) hello(l frame.Limits) frame.Hello {
	s.t.Helper()
	f, err := frame.NewHello(frame.Hello{Limits: l})
	require.NoError(s.t, err)
	s.send(&f)
	answer, err := s.next().Hello()
	require.NoError(s.t, err)
	return answer
}

// send sends frames, numbered.
func (s *script) send(frames ...*frame.Frame) {
	s.t.Helper()
	for _, f := range frames {
		s.seq.Assign(f)
		require.NoError(s.t, s.out.Write(f))
		if f.Type.Terminal() {
			s.seq.Remove(flow.KeyOf(f.Head()))
		}
	}
	require.NoError(s.t, s.out.Flush())
}

// next reads a frame.
func (s *script) next() *frame.Frame {
	s.t.Helper()
	f, err := s.in.Next()
	require.NoError(s.t, err)
	return f.Clone()
}

// want reads a frame of a type.
func (s *script) want(t frame.Type) *frame.Frame {
	s.t.Helper()
	f := s.next()
	require.Equal(s.t, t.String(), f.Type.String(), "%+v", f)
	return f
}

// silent checks that the cartridge has nothing to say: a probe is answered next.
func (s *script) silent() frame.Heartbeat {
	s.t.Helper()
	probe, err := frame.NewHeartbeat(frame.NewUUID(), frame.Heartbeat{})
	require.NoError(s.t, err)
	s.send(&probe)
	answer := s.want(frame.TypeHeartbeat)
	require.Equal(s.t, probe.ID, answer.ID)
	h, err := answer.Heartbeat()
	require.NoError(s.t, err)
	return h
}

// finish ends the cartridge's input and returns what Serve returned.
func (s *script) finish() error {
	s.conn.(*pipe.Conn).CloseWrite()
	io.Copy(io.Discard, s.conn)
	return <-s.served
}

// A flowing request is one that a script sends.
type flowing struct {
	*script
	id, xid frame.ID
	chunks  map[string]uint64
}

var nextXID uint64 = 100

// req sends a REQ.
func (s *script) req(cap string) *flowing {
	s.t.Helper()
	return s.begin(cap, func(*frame.Frame) {})
}

// begin sends a REQ that is changed before.
func (s *script) begin(cap string, change func(*frame.Frame)) *flowing {
	s.t.Helper()
	nextXID++
	r := &flowing{script: s, id: frame.NewUUID(), xid: frame.Number(nextXID), chunks: map[string]uint64{}}
	f := frame.NewReq(r.id, []byte(cap))
	change(&f)
	r.sendAs(&f)
	return r
}

func (r *flowing) sendAs(f *frame.Frame) {
	r.t.Helper()
	f.ID, f.RoutingID = r.id, r.xid
	r.script.send(f)
}

func (r *flowing) begin(stream string, sequence ...bool) {
	r.t.Helper()
	f := frame.NewStreamStart(r.id, []byte(stream), []byte("media:"))
	if len(sequence) > 0 {
		f.IsSequence = frame.Some(sequence[0])
	}
	r.sendAs(&f)
}

func (r *flowing) chunk(stream string, payload []byte) {
	r.t.Helper()
	f := frame.NewChunk(r.id, []byte(stream), r.chunks[stream], payload, flow.Checksum(payload))
	r.chunks[stream]++
	r.sendAs(&f)
}

func (r *flowing) endStream(stream string) {
	r.t.Helper()
	f := frame.NewStreamEnd(r.id, []byte(stream), frame.Some(r.chunks[stream]))
	r.sendAs(&f)
}

func (r *flowing) endBody() {
	r.t.Helper()
	f := frame.NewBodyEnd(r.id)
	r.sendAs(&f)
}

// arg sends a whole argument of one CHUNK.
func (r *flowing) arg(stream string, payload []byte) {
	r.t.Helper()
	r.begin(stream)
	r.chunk(stream, payload)
	r.endStream(stream)
}

func (r *flowing) cancel(reason frame.CancelReason) {
	r.t.Helper()
	f, err := frame.NewCancel(r.id, false, reason)
	require.NoError(r.t, err)
	r.sendAs(&f)
}

func (r *flowing) grant(stream []byte, n uint64) {
	r.t.Helper()
	f := frame.NewCredit(r.id, stream, n, frame.ResponseDirection)
	r.sendAs(&f)
}

// want reads a frame of the request. CREDIT is passed over where another type is wanted.
func (r *flowing) want(t frame.Type) *frame.Frame {
	r.t.Helper()
	f := r.next()
	for f.Type == frame.TypeCredit && t != frame.TypeCredit {
		f = r.next()
	}
	require.Equal(r.t, t.String(), f.Type.String(), "%+v", f)
	require.Equal(r.t, r.id, f.ID)
	require.Equal(r.t, r.xid, f.RoutingID)
	return f
}

// wantErr reads the ERR of the request.
func (r *flowing) wantErr(code string, a frame.Attribution) frame.ErrInfo {
	r.t.Helper()
	i, err := r.want(frame.TypeErr).ErrInfo()
	require.NoError(r.t, err)
	require.Equal(r.t, code, string(i.Code), "%s", i.Message)
	require.Equal(r.t, a, i.Attribution)
	return i
}

// wantSuccess reads the END of the request.
func (r *flowing) wantSuccess() frame.EndInfo {
	r.t.Helper()
	i := r.want(frame.TypeEnd).EndInfo()
	require.True(r.t, i.Succeeded())
	return i
}

// bstr is a CBOR byte string of less than 24 bytes.
func bstr(s string) []byte { return append([]byte{0x40 | byte(len(s))}, s...) }

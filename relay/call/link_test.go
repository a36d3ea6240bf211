package call_test

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
	"github.com/cosim-go/cosim/relay/stats"
)

// A fake is an Opener and its one Link: a test reads what is sent, and plays the handler.
type fake struct {
	t        *testing.T
	limits   frame.Limits
	request  call.Request
	sent     chan *frame.Frame
	box      *inbox.Inbox
	hookless bool // it does not tell what arrives

	mu      sync.Mutex
	ended   bool
	closed  int
	drops   []string
	chunks  map[string]uint64
	failure error // of Send
}

func newFake(t *testing.T) *fake {
	return &fake{
		t: t, limits: frame.DefaultLimits(), sent: make(chan *frame.Frame, 1000), box: inbox.New(0), chunks: map[string]uint64{},
	}
}

func (l *fake) Open(ctx context.Context, r call.Request) (call.Link, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	l.request = r
	if l.request.ID.IsZero() {
		l.request.ID = frame.NewUUID()
	}
	return l, nil
}

func (l *fake) ID() frame.ID         { return l.request.ID }
func (l *fake) Limits() frame.Limits { return l.limits }

func (l *fake) Send(ctx context.Context, f *frame.Frame) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case l.ended:
		return call.ErrEnded
	case l.failure != nil:
		return l.failure
	}
	l.sent <- f.Clone()
	return nil
}

func (l *fake) Next(ctx context.Context) (*frame.Frame, error) { return l.box.Next(ctx) }
func (l *fake) TryNext() (*frame.Frame, bool)                  { return l.box.TryNext() }

func (l *fake) Cancel(force bool, r frame.CancelReason) error {
	f, err := frame.NewCancel(l.ID(), force, r)
	require.NoError(l.t, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.sent <- f.Clone()
	}
	return nil
}

func (l *fake) Drop(r stats.Reason, t frame.Type) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drops = append(l.drops, fmt.Sprint(r, " ", t))
}

func (l *fake) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed++
	l.ended = true
	l.box.Drop()
	return nil
}

// next returns the next frame that is sent.
func (l *fake) next() *frame.Frame {
	l.t.Helper()
	select {
	case f := <-l.sent:
		return f
	case <-l.t.Context().Done():
		l.t.Fatal("nothing was sent")
		return nil
	}
}

// want returns the next frame that is sent, which is of a type.
func (l *fake) want(t frame.Type) *frame.Frame {
	l.t.Helper()
	f := l.next()
	require.Equal(l.t, t.String(), f.Type.String())
	return f
}

// wantCancel checks that a CANCEL is sent.
func (l *fake) wantCancel(code string, a frame.Attribution) string {
	l.t.Helper()
	r := l.want(frame.TypeCancel).CancelReason()
	require.Equal(l.t, code, string(r.Code))
	require.Equal(l.t, a, r.Attribution)
	return string(r.Message)
}

// silent checks that nothing more was sent.
func (l *fake) silent() {
	l.t.Helper()
	select {
	case f := <-l.sent:
		l.t.Fatalf("sent: %v", f.Type)
	default:
	}
}

// grant gives credit for an argument.
func (l *fake) grant(stream []byte, n uint64, d frame.Direction) {
	f := frame.NewCredit(l.ID(), stream, n, d)
	l.request.OnCredit(&f)
}

// reply is a frame of the response.
func (l *fake) reply(f *frame.Frame) {
	l.t.Helper()
	f.ID = l.ID()
	if f.Type == frame.TypeChunk && !l.hookless {
		l.request.OnChunk(f)
	}
	require.NoError(l.t, l.box.PutFrame(f))
	if f.Type.Terminal() {
		l.mu.Lock()
		l.ended = true
		l.mu.Unlock()
		l.box.Close(io.EOF)
	}
}

func (l *fake) begin(stream string, change ...func(*frame.Frame)) {
	l.t.Helper()
	f := frame.NewStreamStart(l.ID(), []byte(stream), []byte("media:y"))
	for _, c := range change {
		c(&f)
	}
	l.reply(&f)
}

func sequence(f *frame.Frame)  { f.IsSequence = frame.Some(true) }
func unbounded(f *frame.Frame) { f.Unbounded = frame.Some(true) }

func (l *fake) chunk(stream string, payload []byte, change ...func(*frame.Frame)) {
	l.t.Helper()
	f := frame.NewChunk(l.ID(), []byte(stream), l.chunks[stream], payload, flow.Checksum(payload))
	l.chunks[stream]++
	for _, c := range change {
		c(&f)
	}
	l.reply(&f)
}

func (l *fake) endStream(stream string) {
	l.t.Helper()
	f := frame.NewStreamEnd(l.ID(), []byte(stream), frame.Some(l.chunks[stream]))
	l.reply(&f)
}

func (l *fake) end(i frame.EndInfo) {
	l.t.Helper()
	f, err := frame.NewEnd(l.ID(), i)
	require.NoError(l.t, err)
	l.reply(&f)
}

func (l *fake) succeed() { l.end(frame.EndInfo{ExitCode: frame.Some[int64](0)}) }

func (l *fake) err(i frame.ErrInfo) {
	l.t.Helper()
	f, err := frame.NewErr(l.ID(), i)
	require.NoError(l.t, err)
	l.reply(&f)
}

// bstr is a CBOR byte string of less than 24 bytes.
func bstr(s string) []byte { return append([]byte{0x40 | byte(len(s))}, s...) }

// start starts a call that is closed at the end.
func (l *fake) start(ctx context.Context, args ...call.Arg) *call.Call {
	l.t.Helper()
	c, err := call.Start(ctx, l, call.Request{Cap: "cap:test"}, args...)
	require.NoError(l.t, err)
	l.t.Cleanup(func() { c.Close() })
	return c
}

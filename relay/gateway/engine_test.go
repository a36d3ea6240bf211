package gateway

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/stats"
)

// A stubEngine takes requests and hosts, and leaves them to the test.
type stubEngine struct {
	limits  frame.Limits
	opened  chan *stubLink       // a request that was admitted
	waiting chan context.Context // a request that waits for admission, when admit is not nil
	admit   chan struct{}        // lets one in
	refuse  func(call.Request) error
	joined  chan joining

	mu       sync.Mutex
	attached map[string]bool
	conns    []io.Closer
}

type joining struct {
	id   string
	conn io.ReadWriteCloser
}

func newStubEngine() *stubEngine {
	return &stubEngine{
		limits: frame.DefaultLimits(), opened: make(chan *stubLink, 2000), waiting: make(chan context.Context, 2000),
		joined: make(chan joining, 100), attached: map[string]bool{},
	}
}

func (e *stubEngine) Limits() frame.Limits { return e.limits }
func (e *stubEngine) status() Status       { return Status{Ready: true, Limits: Limits(e.limits)} }

func (e *stubEngine) AcceptsAttach(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.attached[id]
}

func (e *stubEngine) AddMaster(_ context.Context, id string, conn io.ReadWriteCloser) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.attached[id] = true
	e.conns = append(e.conns, conn)
	e.joined <- joining{id, conn}
	return 0, nil
}

func (e *stubEngine) closeHosts() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, conn := range e.conns {
		conn.Close()
	}
}

func (e *stubEngine) lose(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.attached[id] = false
}

func (e *stubEngine) Open(ctx context.Context, r call.Request) (call.Link, error) {
	if e.refuse != nil {
		if err := e.refuse(r); err != nil {
			return nil, err
		}
	}
	if e.admit != nil {
		e.waiting <- ctx
		select {
		case <-e.admit:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	l := &stubLink{
		limits: e.limits, request: r, in: inbox.New(0), sent: make(chan *frame.Frame, 10000),
		cancels: make(chan *call.Cancelled, 10), closed: make(chan struct{}), over: make(chan struct{}),
	}
	e.opened <- l
	return l, nil
}

// A stubLink is a request whose handler is the test: what the requester sends is in sent, and respond answers.
type stubLink struct {
	limits  frame.Limits
	request call.Request
	in      *inbox.Inbox
	sent    chan *frame.Frame
	stalled chan struct{} // when not nil, Send waits for it
	cancels chan *call.Cancelled
	closed  chan struct{}
	close   sync.Once

	over    chan struct{} // closed when the response has ended
	overing sync.Once
}

// respond sends a frame of the response.
func (l *stubLink) respond(t *testing.T, f frame.Frame) {
	t.Helper()
	f.ID, f.RoutingID = l.request.ID, frame.Number(7)
	switch f.Type {
	case frame.TypeCredit:
		l.request.OnCredit(&f)
		return
	case frame.TypeChunk:
		l.request.OnChunk(&f)
	}
	if err := l.in.PutFrame(&f); err != nil && !errors.Is(err, inbox.ErrClosed) {
		t.Error(err)
	}
	if f.Type.Terminal() {
		l.finish()
	}
}

func (l *stubLink) finish() {
	l.overing.Do(func() { close(l.over) })
	l.in.Close(io.EOF)
}

func (l *stubLink) ID() frame.ID         { return l.request.ID }
func (l *stubLink) Limits() frame.Limits { return l.limits }

func (l *stubLink) Send(ctx context.Context, f *frame.Frame) error {
	select {
	case <-l.over:
		return call.ErrEnded
	default:
	}
	if l.stalled != nil {
		select {
		case <-l.stalled:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	l.sent <- f.Clone()
	return nil
}

func (l *stubLink) Next(ctx context.Context) (*frame.Frame, error) { return l.in.Next(ctx) }
func (l *stubLink) TryNext() (*frame.Frame, bool)                  { return l.in.TryNext() }
func (l *stubLink) Drop(stats.Reason, frame.Type)                  {}

func (l *stubLink) Cancel(_ bool, r frame.CancelReason) error {
	select {
	case <-l.over:
		return nil
	default:
	}
	reason := call.CancelledFrom(r)
	l.cancels <- reason
	l.in.PutFrame(errFrame(l.request.ID, reason.Terminal()))
	l.finish()
	return nil
}

func (l *stubLink) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
}

// next returns the next frame from the requester.
func (l *stubLink) next(t *testing.T) *frame.Frame {
	t.Helper()
	return receive(t, l.sent)
}

// patience is how long a test waits for what has to come.
const patience = time.Minute

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// A rig is a gateway that serves an engine of the test's.
type rig struct {
	*testing.T
	engine *stubEngine
	path   string
	log    logged
	joined chan Joined
	stop   context.CancelFunc
	ended  chan error
}

// logged is what a gateway has logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newRig(t *testing.T, o *Options) *rig {
	t.Helper()
	relaytest.NoLeaks(t)
	r := &rig{T: t, engine: newStubEngine(), path: filepath.Join(t.TempDir(), "s"), joined: make(chan Joined, 100), ended: make(chan error, 1)}
	l, err := net.Listen("unix", r.path)
	if err != nil {
		t.Fatal(err)
	}
	if o == nil {
		o = &Options{}
	}
	o.Joined = func(j Joined) { r.joined <- j }
	o.Logger = slog.New(slog.NewTextHandler(&r.log, nil))
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.ended <- serve(ctx, l, r.engine, o)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		r.engine.closeHosts()
	})
	return r
}

func (r *rig) client() *Client {
	r.Helper()
	c, err := Dial(r.Context(), r.path)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	return c
}

// A raw is a caller that does as it likes.
type raw struct {
	*rig
	conn *net.UnixConn
	in   *frame.Reader
	out  *frame.Writer
	seq  map[frame.ID]uint64
}

// connect returns a connection on which nothing was said.
func (r *rig) connect() *raw {
	r.Helper()
	conn, err := net.Dial("unix", r.path)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { conn.Close() })
	return &raw{r, conn.(*net.UnixConn), frame.NewReader(conn, nil), frame.NewWriter(conn, nil), map[frame.ID]uint64{}}
}

// caller returns a connection after its HELLO.
func (r *rig) caller() *raw {
	r.Helper()
	c := r.connect()
	hello, err := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
	if err != nil {
		r.Fatal(err)
	}
	c.write(hello)
	if f := c.read(); f.Type != frame.TypeHello {
		r.Fatalf("the answer to HELLO is %s", f.Type)
	}
	return c
}

// write sends a frame with its number.
func (c *raw) write(f frame.Frame) {
	c.Helper()
	if f.Type.Flow() {
		f.Seq = c.seq[f.ID]
		c.seq[f.ID]++
	}
	c.writeAs(f)
}

func (c *raw) writeAs(f frame.Frame) {
	c.Helper()
	err := c.out.Write(&f)
	if err == nil {
		err = c.out.Flush()
	}
	if err != nil {
		c.Fatal(err)
	}
}

// read returns the next frame, a copy.
func (c *raw) read() *frame.Frame {
	c.Helper()
	c.conn.SetReadDeadline(time.Now().Add(patience))
	f, err := c.in.Next()
	if err != nil {
		c.Fatalf("reading: %v; the gateway logged: %s", err, &c.log)
	}
	return f.Clone()
}

// begin makes a request and returns it when it is admitted.
func (c *raw) begin(cap string) (frame.ID, *stubLink) {
	c.Helper()
	id := frame.NewUUID()
	c.write(frame.NewReq(id, []byte(cap)))
	l := receive(c.T, c.engine.opened)
	if f := c.read(); f.ID != id || f.Type != frame.TypeCredit {
		c.Fatalf("after the REQ comes %s of %s", f.Type, f.ID)
	}
	return id, l
}

// gone waits for the end of the connection.
func (c *raw) gone() {
	c.Helper()
	c.conn.SetReadDeadline(time.Now().Add(patience))
	for {
		_, err := c.in.Next()
		if err == io.EOF || err != nil && strings.Contains(err.Error(), "reset") {
			return
		}
		if err != nil {
			c.Fatal(err)
		}
	}
}

func chunk(id frame.ID, index uint64, payload string) frame.Frame {
	return frame.NewChunk(id, []byte("arg0"), index, []byte(payload), sum(payload))
}

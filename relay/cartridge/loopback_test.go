package cartridge_test

import (
	"context"
	"io"
	"sync"
	"testing"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/stats"
)

// A loopback is engine, switch and host for one cartridge: an Opener, which also sends the cartridge's own peer calls
// back to it, as a switch does that knows no other.
type loopback struct {
	t      testing.TB
	out    *outbox.Outbox
	limits frame.Limits
	hello  frame.Hello
	done   chan struct{} // the cartridge closed the connection

	counters stats.Counters

	mu    sync.Mutex
	next  uint64
	links map[frame.ID]*link    // of the engine, by XID
	peers map[frame.ID]frame.ID // XID of a peer call by its RID
	lost  int                   // frames for nobody
	err   error                 // of reading
}

// newLoopback greets a cartridge over conn, which it owns.
func newLoopback(t testing.TB, conn io.ReadWriteCloser, limits frame.Limits) *loopback {
	h := &loopback{
		t: t, out: outbox.New(conn, &outbox.Options{Number: true}), limits: limits, done: make(chan struct{}),
		links: map[frame.ID]*link{}, peers: map[frame.ID]frame.ID{},
	}
	hello, err := frame.NewHello(frame.Hello{Limits: limits})
	if err == nil {
		err = h.out.Send(&hello)
	}
	if err != nil {
		t.Fatal(err)
	}
	h.out.Flush()
	in := frame.NewReader(conn, &frame.ReaderOptions{Idle: func() error { h.out.Flush(); return nil }})
	f, err := in.Next()
	if err != nil {
		t.Fatal("reading the HELLO: ", err)
	}
	if h.hello, err = f.Clone().Hello(); err != nil {
		t.Fatal(err)
	}
	h.limits = limits.Min(h.hello.Limits)
	go h.read(in)
	return h
}

func (h *loopback) read(in *frame.Reader) {
	defer close(h.done)
	var err error
	for err == nil {
		var f *frame.Frame
		if f, err = in.Next(); err == nil {
			h.route(f, in.Wire()[frame.PrefixSize:])
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
	for _, l := range h.links {
		l.box.Close(io.ErrUnexpectedEOF)
	}
}

// route passes on a frame of the cartridge.
func (h *loopback) route(f *frame.Frame, body []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	xid := f.RoutingID
	switch {
	case f.Type == frame.TypeHeartbeat:
		return
	case f.Type == frame.TypeReq:
		h.next++
		xid = frame.Number(h.next)
		h.peers[f.ID] = xid
	case xid.IsZero():
		var ok bool
		if xid, ok = h.peers[f.ID]; !ok {
			h.lose(f)
			return
		}
	default:
		if l := h.links[xid]; l != nil {
			l.take(f, body)
			return
		}
		if h.peers[f.ID] != xid {
			h.lose(f)
			return
		}
		if f.Type.Terminal() {
			delete(h.peers, f.ID)
		}
	}
	head := f.Head()
	if err := h.out.Forward(body, &head, xid); err != nil {
		h.t.Error("to the cartridge: ", err)
	}
}

// lose counts a frame for nobody. One that does not belong to a flow may come late.
func (h *loopback) lose(f *frame.Frame) {
	if f.Type.Flow() {
		h.lost++
	}
}

// Close is the end of the cartridge's input. It waits for the end of its output.
func (h *loopback) Close() {
	h.out.Finish(context.Background())
	<-h.done
}

// A link is a request of the engine.
type link struct {
	host     *loopback
	id, xid  frame.ID
	box      *inbox.Inbox
	onCredit func(*frame.Frame)
	onChunk  func(*frame.Frame)
}

var _ call.Batcher = (*link)(nil)

func (h *loopback) Open(ctx context.Context, q call.Request) (call.Link, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	l := &link{
		host: h, id: q.ID, xid: frame.Number(h.next), box: inbox.New(0), onCredit: q.OnCredit, onChunk: q.OnChunk,
	}
	if l.id.IsZero() {
		l.id = frame.NewUUID()
	}
	f := frame.NewReq(l.id, []byte(q.Cap))
	f.RoutingID, f.ContentType, f.Meta = l.xid, []byte("application/cbor"), q.Meta
	if err := h.out.Send(&f); err != nil {
		return nil, err
	}
	h.links[l.xid] = l
	if !q.Batch {
		h.out.Flush()
	}
	return l, nil
}

// take takes a frame of the response. The lock of the host is held.
func (l *link) take(f *frame.Frame, body []byte) {
	switch {
	case f.Type == frame.TypeCredit:
		l.onCredit(f)
		return
	case f.Type == frame.TypeChunk && l.onChunk != nil:
		l.onChunk(f)
	}
	if err := l.box.Put(body); err != nil {
		l.host.counters.Drop(stats.ChannelClosed, f.Type)
	}
	if f.Type.Terminal() {
		delete(l.host.links, l.xid)
		l.host.out.Forget(flow.Key{RID: l.id, XID: l.xid})
		l.box.Close(io.EOF)
	}
}

func (l *link) running() bool {
	l.host.mu.Lock()
	defer l.host.mu.Unlock()
	return l.host.links[l.xid] == l
}

func (l *link) ID() frame.ID         { return l.id }
func (l *link) Limits() frame.Limits { return l.host.limits }

func (l *link) Queue(ctx context.Context, f *frame.Frame) error {
	if err := l.host.out.Room(ctx); err != nil {
		return err
	}
	l.host.mu.Lock()
	defer l.host.mu.Unlock()
	if l.host.links[l.xid] != l {
		return call.ErrEnded
	}
	f.ID, f.RoutingID = l.id, l.xid
	return l.host.out.Send(f)
}

func (l *link) Send(ctx context.Context, f *frame.Frame) error {
	err := l.Queue(ctx, f)
	l.Flush()
	return err
}

func (l *link) Flush()                                         { l.host.out.Flush() }
func (l *link) Next(ctx context.Context) (*frame.Frame, error) { return l.box.Next(ctx) }
func (l *link) TryNext() (*frame.Frame, bool)                  { return l.box.TryNext() }
func (l *link) Drop(r stats.Reason, t frame.Type)              { l.host.counters.Drop(r, t) }

func (l *link) Cancel(force bool, r frame.CancelReason) error {
	if !l.running() {
		return nil
	}
	f, err := frame.NewCancel(l.id, force, r)
	if err != nil {
		return err
	}
	f.RoutingID = l.xid
	err = l.host.out.Send(&f)
	l.Flush()
	return err
}

func (l *link) Close() error {
	if l.running() {
		l.Cancel(false, frame.CancelReason{Code: []byte(call.CodeAborted), Attribution: frame.AttributionInternal})
	}
	l.box.Drop()
	return nil
}

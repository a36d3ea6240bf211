package cartridge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
	"github.com/cosim-go/cosim/relay/stats"
)

// A peer is a request that a handler makes.
type peer struct {
	parent   *Request
	session  *session
	id       frame.ID
	box      *inbox.Inbox
	onCredit func(*frame.Frame)
	onChunk  func(*frame.Frame)

	mu        sync.Mutex
	ended     bool // its response has ended
	cancelled bool
	closed    bool

	// Guarded by session.mu: for a call that comes back to be served here, where the frames of its body arrive with the
	// same ids as those of its response.
	loop    *Request   // the request that it came back as
	streams [][]byte   // ids of the streams of its body
	end     frame.Type // of the body that was sent; only with endedAt
	endedAt uint64     // as for a Request; 0 before
	back    bool       // the end of the body has come back
}

var (
	_ call.Batcher = (*peer)(nil)

	errPeerRunning = errors.New("a peer call with this id runs already")
)

// Open begins a peer call: a request to whatever serves the cap, made for this one. It is cancelled with it, and
// when the handler returns. It is what makes a Request a [call.Opener]; see [call.Do] and [call.Start]. Preferred has
// no meaning for a peer call.
func (r *Request) Open(ctx context.Context, q call.Request) (call.Link, error) {
	p := &peer{parent: r, session: r.session, id: q.ID, box: inbox.New(0), onCredit: q.OnCredit, onChunk: q.OnChunk}
	if p.id.IsZero() {
		p.id = frame.NewUUID()
	}
	if q.Parent.IsZero() {
		q.Parent = r.id
	}
	f, err := requestFrame(p.id, &q)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := r.adopt(p); err != nil {
		return nil, err
	}
	if err := p.register(&f); err != nil {
		p.lose()
		return nil, err
	}
	if !q.Batch {
		r.session.out.Flush()
	}
	return p, nil
}

// requestFrame returns the REQ of a request.
func requestFrame(id frame.ID, q *call.Request) (frame.Frame, error) {
	var b frame.MetaBuilder
	for name, value := range q.Meta.All() {
		b.Raw(string(name), value.Raw())
	}
	info := frame.ReqInfo{ParentRID: q.Parent}
	if q.Cartridge != "" {
		info.TargetCartridge = []byte(q.Cartridge)
	}
	info.Put(&b)
	meta, err := b.Meta()
	if err != nil {
		return frame.Frame{}, err
	}
	f := frame.NewReq(id, []byte(q.Cap))
	f.Meta = meta
	f.ContentType = []byte(q.ContentType)
	if q.ContentType == "" {
		f.ContentType = []byte(call.DefaultContentType)
	}
	return f, nil
}

// adopt makes p a peer call of the request, unless that has ended.
func (r *Request) adopt(p *peer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended:
		return call.ErrEnded
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	case r.failure != nil:
		return r.failure
	}
	r.peers = append(r.peers, p)
	return nil
}

// closePeers abandons the peer calls that the handler left open.
func (r *Request) closePeers() {
	r.mu.Lock()
	peers := r.peers
	r.peers = nil
	r.mu.Unlock()
	for _, p := range peers {
		p.Close()
	}
}

// register sends the REQ, after which answers find the peer call.
func (p *peer) register(f *frame.Frame) error {
	s := p.session
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.peers == nil:
		return errHostGone
	case s.peers[p.id] != nil:
		return errPeerRunning
	}
	if err := s.out.Send(f); err != nil {
		return err
	}
	s.peers[p.id] = p
	return nil
}

// ID returns the id of the peer call.
func (p *peer) ID() frame.ID { return p.id }

// Limits returns those of the connection to the host.
func (p *peer) Limits() frame.Limits { return p.session.limits }

// Send sends a frame of the body, or a grant.
func (p *peer) Send(ctx context.Context, f *frame.Frame) error {
	if err := p.Queue(ctx, f); err != nil {
		return err
	}
	p.session.out.Flush()
	return nil
}

// Queue is Send, but leaves the frame until the next Send or Flush.
func (p *peer) Queue(ctx context.Context, f *frame.Frame) error {
	p.mu.Lock()
	ended := p.ended || p.closed
	p.mu.Unlock()
	if ended {
		return call.ErrEnded
	}
	out := p.session.out
	if out.Full() {
		if err := out.Room(ctx); err != nil {
			return err
		}
	}
	f.ID, f.RoutingID = p.id, frame.ID{}
	if f.Type != frame.TypeStreamStart && !f.Type.Terminal() {
		return out.Send(f)
	}
	return p.sendMark(f)
}

// sendMark sends a frame by which the body is told from the response, should it come back.
func (p *peer) sendMark(f *frame.Frame) error {
	s := p.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Type.Terminal() {
		s.ends++
		p.end, p.endedAt = f.Type, s.ends
	} else {
		p.streams = append(p.streams, bytes.Clone(f.StreamID))
	}
	return s.out.Send(f)
}

// Flush starts writing what was queued, before a wait: so the handler's own grants go out too.
func (p *peer) Flush() { p.parent.flush() }

// returns reports whether a frame is of the body of the peer call, come back because the call is served here, and not of
// its response. Streams are told by their ids. Of the two ends, that which was sent first comes first; an END that has
// something to say is a response's, and an ERR is one unless the body was given up. The lock of the session is held.
func (p *peer) returns(f *frame.Frame) bool {
	if p.loop == nil {
		return false
	}
	if !f.Type.Terminal() {
		for _, id := range p.streams {
			if bytes.Equal(id, f.StreamID) {
				return true
			}
		}
		return false
	}
	first := p.endedAt > 0 && (p.loop.endedAt == 0 || p.endedAt < p.loop.endedAt)
	if p.back || !first || p.end != f.Type || f.Type == frame.TypeEnd && f.EndInfo().ExitCode.IsSet() {
		return false
	}
	p.back = true
	return true
}

// take takes a frame of the response. It is called by who reads the connection, and never waits.
func (p *peer) take(f *frame.Frame, raw []byte) {
	if f.Type == frame.TypeChunk && p.onChunk != nil {
		p.onChunk(f)
	}
	if f.Type.Terminal() {
		p.mu.Lock()
		p.ended = true
		p.mu.Unlock()
	}
	err := p.box.Put(raw)
	if f.Type.Terminal() {
		p.box.Close(io.EOF)
		return
	}
	switch {
	case errors.Is(err, inbox.ErrClosed):
		p.session.counters.Drop(stats.ChannelClosed, f.Type)
	case err != nil: // far beyond all credit
		p.session.counters.Drop(stats.CreditViolation, f.Type)
		p.Cancel(false, frame.CancelReason{
			Code: []byte(call.CodeCreditViolation), Attribution: frame.AttributionInternal, Message: []byte(err.Error()),
		})
	}
}

// Next returns the next frame of the response and waits for it.
func (p *peer) Next(ctx context.Context) (*frame.Frame, error) {
	f, ok := p.box.TryNext()
	if ok {
		return f, nil
	}
	p.parent.flush()
	return p.box.Next(ctx)
}

// TryNext returns the next frame of the response if it is there.
func (p *peer) TryNext() (*frame.Frame, bool) { return p.box.TryNext() }

// Cancel asks for the end of the peer call.
func (p *peer) Cancel(force bool, r frame.CancelReason) error {
	p.mu.Lock()
	ended := p.ended || p.closed
	p.cancelled = true
	p.mu.Unlock()
	if ended {
		return nil
	}
	return p.sendCancel(force, r)
}

func (p *peer) sendCancel(force bool, r frame.CancelReason) error {
	f, err := frame.NewCancel(p.id, force, r)
	if err != nil {
		return err
	}
	if err := p.session.out.Send(&f); err != nil {
		return err
	}
	p.session.out.Flush()
	return nil
}

// Drop counts a frame that the handler could not take.
func (p *peer) Drop(r stats.Reason, t frame.Type) { p.session.counters.Drop(r, t) }

// Close ends the peer call. One that runs is cancelled; what still comes of it counts as dropped.
func (p *peer) Close() error {
	p.mu.Lock()
	first, over := !p.closed, p.ended || p.cancelled
	p.closed = true
	p.mu.Unlock()
	if !first {
		return nil
	}
	p.box.Drop()
	p.parent.disown(p)
	if over {
		return nil
	}
	abandoned := &call.Cancelled{
		Code: call.CodeAborted, Attribution: frame.AttributionInternal, Message: "the caller has gone",
	}
	return p.sendCancel(false, abandoned.Reason())
}

// disown forgets a peer call.
func (r *Request) disown(p *peer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.peers {
		if r.peers[i] == p {
			r.peers = append(r.peers[:i:i], r.peers[i+1:]...)
			return
		}
	}
}

// lose ends the response of a peer call when the connection has ended.
func (p *peer) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	if f, err := frame.NewErr(p.id, errHostGone.Terminal().Info()); err == nil {
		p.box.PutFrame(&f)
	}
	p.box.Close(io.EOF)
}

package cartridge

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/stream"
)

// A Request is what a handler serves. It belongs to the handler and is of no use after that has returned. Its methods
// are safe for concurrent use.
type Request struct {
	session     *session
	id, xid     frame.ID
	handler     *handler
	cap         string
	contentType string
	meta        frame.Meta

	ctx     context.Context // of the handler; its readers and writers have no other
	end     context.CancelCauseFunc
	gates   stream.Gates // of the response
	waiters atomic.Int32 // outputs that may be waiting for credit

	mu        sync.Mutex
	inputs    []*Input // all of them
	taken     int      // inputs that Next has returned
	body      error    // why there are no more inputs; io.EOF for a good end
	more      chan struct{}
	outputs   []*Output
	peers     []*peer
	closing   chan struct{}
	isClosing bool
	failure   *Error // what the request ends with, whatever its handler returns
	ended     bool   // its END or ERR was sent
	endedAt   uint64 // number of that among all that the session has sent; guarded by session.mu
	progress  frame.Optional[float64]
	message   string
}

var _ call.Opener = (*Request)(nil)

func newRequest(s *session, f *frame.Frame, h *handler) *Request {
	r := &Request{
		session: s, id: f.ID, xid: f.RoutingID, handler: h,
		cap: string(f.Cap), contentType: string(f.ContentType), meta: f.Meta.Clone(),
	}
	r.ctx, r.end = context.WithCancelCause(s.life)
	return r
}

// ID returns the request's id.
func (r *Request) ID() frame.ID { return r.id }

// Cap returns the cap that was asked for, as it was asked for.
func (r *Request) Cap() string { return r.cap }

// ContentType returns the content type of the request.
func (r *Request) ContentType() string { return r.contentType }

// Meta returns what came with the request.
func (r *Request) Meta() frame.Meta { return r.meta }

// Next waits for the next argument. After the last one it fails with io.EOF; when the requester gave up its body, with
// the [*Error] that it sent. Arguments may be read at the same time. One that is not read to its end is to be
// closed, or the one behind it may never come.
func (r *Request) Next() (*Input, error) {
	for {
		in, more, err := r.next()
		if in != nil || err != nil {
			return in, err
		}
		r.flush()
		select {
		case <-more:
		case <-r.ctx.Done():
		}
	}
}

func (r *Request) next() (in *Input, more <-chan struct{}, err error) {
	if r.ctx.Err() != nil {
		return nil, nil, context.Cause(r.ctx)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken < len(r.inputs) {
		in := r.inputs[r.taken]
		r.taken++
		return in, nil, nil
	}
	if r.body == nil && r.more == nil {
		r.more = make(chan struct{})
	}
	return nil, r.more, r.body
}

// stir wakes those who wait in Next. The lock is held.
func (r *Request) stir() {
	if r.more != nil {
		close(r.more)
		r.more = nil
	}
}

// Args yields the arguments that Next returns, until io.EOF, which it does not yield.
func (r *Request) Args() iter.Seq2[*Input, error] { return argsOf(r) }

// Closing returns a channel that is closed when the requester asks for the orderly end of live inputs, of one argument
// or of all: the handler should stop capturing, or waiting, and finish as usual.
func (r *Request) Closing() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing == nil {
		r.closing = make(chan struct{})
		if r.isClosing {
			close(r.closing)
		}
	}
	return r.closing
}

// closeStream asks the handler to end live inputs; nil is all of them.
func (r *Request) closeStream(id []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range r.inputs {
		if id == nil || in.id == string(id) {
			in.askToClose()
		}
	}
	if !r.isClosing {
		r.isClosing = true
		if r.closing != nil {
			close(r.closing)
		}
	}
}

// ResourceState returns the newest state of the host's resources that this cartridge was given, nil for none, and a
// channel that is closed when there is a newer one. The bytes must not be changed.
func (r *Request) ResourceState() (state []byte, changed <-chan struct{}) {
	return r.session.state.get()
}

// Policy returns the newest policy, nil for none, and a channel that is closed when there is a newer one.
func (r *Request) Policy() (p *Policy, changed <-chan struct{}) { return r.session.policy.get() }

// Overrun counts what a live source of the handler lost because it was not taken in time.
func (r *Request) Overrun() { r.session.counters.Overrun() }

// A Policy is what the switch wants of its cartridges. It must not be changed.
type Policy struct {
	Meta    frame.Meta
	Payload []byte
}

// Queue sends a frame of the response. It waits for room, and ends that with ctx.
func (r *Request) queue(ctx context.Context, f *frame.Frame) error {
	r.mu.Lock()
	ended := r.ended
	r.mu.Unlock()
	if ended {
		return call.ErrEnded
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	out := r.session.out
	if out.Full() {
		if err := out.Room(ctx); err != nil {
			return err
		}
	}
	f.ID, f.RoutingID = r.id, r.xid
	return out.Send(f)
}

// flush lets go what waits, before a wait: grants, short writes that have gathered, and what was queued.
func (r *Request) flush() {
	for i := 0; ; i++ {
		r.mu.Lock()
		if i >= len(r.inputs) {
			r.mu.Unlock()
			break
		}
		in := r.inputs[i]
		r.mu.Unlock()
		in.grant(in.credit.Flush())
	}
	for i := 0; ; i++ {
		r.mu.Lock()
		if i >= len(r.outputs) {
			r.mu.Unlock()
			break
		}
		o := r.outputs[i]
		r.mu.Unlock()
		o.tryFlush()
	}
	r.session.out.Flush()
}

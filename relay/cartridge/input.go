package cartridge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"sync"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
	"github.com/cosim-go/cosim/relay/internal/stream"
)

// An Input is an argument of a request: a scalar to be read, or a sequence of items. It is not safe for concurrent
// use, but different inputs of a request are, and so are Closing and Close.
type Input struct {
	request   *Request
	id        string
	streamID  []byte // the same
	media     string
	sequence  frame.Optional[bool]
	unbounded bool
	meta      frame.Meta

	box      *inbox.Inbox
	credit   stream.Credit
	complete bool // its STREAM_END has come; guarded by Request.mu

	closeMu sync.Mutex
	closing chan struct{}
	asked   bool

	// Of the one who reads.
	in   *stream.In
	held bool   // a CHUNK, or the first of an item, that was handed out and not consumed
	rest []byte // of the bytes of a piece
	err  error  // for good
}

// errInputClosed is the error of reading an input that was closed.
var errInputClosed = errors.New("the argument is closed")

func newInput(r *Request, f *frame.Frame) *Input {
	in := &Input{
		request: r, id: string(f.StreamID), streamID: bytes.Clone(f.StreamID), media: string(f.MediaURN),
		sequence: f.IsSequence, unbounded: f.Unbounded.Or(false), meta: f.Meta.Clone(),
		box: inbox.New(r.session.inputSize()), in: stream.NewIn(f, 0),
	}
	in.credit.Limit(r.session.limits.InitialCredit) // nothing has arrived
	return in
}

// inputSize is how many bytes an argument may have on their way, whatever is consumed: granted credit is a promise of
// room.
func (s *session) inputSize() int {
	credit := max(s.limits.InitialCredit, frame.DefaultCredit) + 1 // and the STREAM_END
	return int(min(credit, 1<<20)) * s.limits.FrameLimit()
}

// ID returns the stream's id, such as arg0.
func (in *Input) ID() string { return in.id }

// Media returns the media URN of the argument.
func (in *Input) Media() string { return in.media }

// Sequence says whether the argument is a sequence; absent when the requester does not say, which is a scalar as a rule.
func (in *Input) Sequence() frame.Optional[bool] { return in.sequence }

// Unbounded reports whether the argument may never end, so that it has to be taken piece by piece.
func (in *Input) Unbounded() bool { return in.unbounded }

// Meta returns what the requester says of the argument.
func (in *Input) Meta() frame.Meta { return in.meta }

// Read reads the bytes of a scalar, and those of each of the items of a sequence one behind the other, as CBOR. After
// the end it returns io.EOF.
func (in *Input) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(in.rest) == 0 {
		if err := in.more(); err != nil {
			return 0, err
		}
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}

// WriteTo writes what is left to w, without copies in between. [io.Copy] makes use of it.
func (in *Input) WriteTo(w io.Writer) (written int64, err error) {
	for {
		if len(in.rest) > 0 {
			n, err := w.Write(in.rest)
			written += int64(n)
			in.rest = in.rest[n:]
			if err != nil {
				return written, err
			}
		}
		switch err := in.more(); err {
		case nil:
		case io.EOF:
			return written, nil
		default:
			return written, err
		}
	}
}

// more gets the next bytes.
func (in *Input) more() error {
	p, err := in.piece()
	if err != nil {
		return err
	}
	in.rest = p.Data
	if p.Value {
		in.rest = p.Item.CBOR
	}
	return nil
}

// Items yields the items of a sequence, as they come. An item is borrowed until the next one. Of a scalar each CHUNK
// is an item: a CBOR byte string, as a rule. An error is the last that it yields.
func (in *Input) Items() iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for {
			p, err := in.piece()
			if err == io.EOF {
				return
			}
			item := p.Item
			if err == nil && !p.Value {
				item.CBOR, err = bytesItem(p.Data)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// piece returns the next piece and waits for it. The one before counts as consumed.
func (in *Input) piece() (stream.Piece, error) {
	for {
		f, err := in.frame()
		if err != nil {
			return stream.Piece{}, err
		}
		p, err := in.in.Chunk(f)
		if err != nil {
			return stream.Piece{}, in.violated(err)
		}
		if in.in.Continued() {
			in.grant(in.credit.Continue())
		}
		if p.Whole {
			in.held = in.credit.Whole()
			return p, nil
		}
		if !in.in.Continued() {
			in.credit.Gather()
		}
	}
}

// frame returns the next CHUNK and waits for it.
func (in *Input) frame() (*frame.Frame, error) {
	if in.err != nil {
		return nil, in.err
	}
	in.consume()
	ctx := in.request.ctx
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f, ok := in.box.TryNext()
	if !ok {
		in.request.flush()
		var err error
		if f, err = in.box.Next(ctx); err != nil {
			return nil, in.lost(err)
		}
	}
	if f.Type == frame.TypeChunk {
		return f, nil
	}
	if err := in.in.End(f); err != nil {
		return nil, in.violated(err)
	}
	in.err = io.EOF
	return nil, io.EOF
}

// lost returns the error for an input of which nothing more comes.
func (in *Input) lost(err error) error {
	if errors.Is(err, inbox.ErrClosed) {
		err = errInputClosed
		if in.request.ctx.Err() != nil {
			err = context.Cause(in.request.ctx)
		}
	}
	in.err = err
	return err
}

// violated ends a request whose argument breaks the rules.
func (in *Input) violated(err error) error {
	e := &Error{Code: call.CodeProtocolError, Attribution: frame.AttributionInternal, Message: err.Error()}
	in.err = e
	in.request.fail(e)
	return e
}

// consume counts what was handed out as consumed. Grants wait for a batch, unless an output waits for credit.
func (in *Input) consume() {
	if !in.held {
		return
	}
	in.held = false
	grant := in.credit.Consume()
	if in.request.waiters.Load() > 0 {
		grant += in.credit.Flush()
	}
	if grant > 0 {
		in.grant(grant)
		in.request.session.out.Flush()
	}
}

// grant grants CHUNKs, unless all have come. Where that fails the connection has ended.
func (in *Input) grant(chunks uint64) {
	if chunks == 0 || in.over() {
		return
	}
	f := frame.NewCredit(in.request.id, in.streamID, chunks, frame.RequestDirection)
	f.RoutingID = in.request.xid
	in.request.session.out.Send(&f)
}

// over reports whether no more CHUNKs are due.
func (in *Input) over() bool {
	r := in.request
	r.mu.Lock()
	defer r.mu.Unlock()
	return in.complete || r.body != nil || r.ended
}

// Closing returns a channel that is closed when the requester asks the handler to end this input and to finish as
// usual.
func (in *Input) Closing() <-chan struct{} {
	in.closeMu.Lock()
	defer in.closeMu.Unlock()
	if in.closing == nil {
		in.closing = make(chan struct{})
		if in.asked {
			close(in.closing)
		}
	}
	return in.closing
}

func (in *Input) askToClose() {
	in.closeMu.Lock()
	defer in.closeMu.Unlock()
	if !in.asked && in.closing != nil {
		close(in.closing)
	}
	in.asked = true
}

// Close discards what is left, also what is still to come. It never waits; a Read that waits fails.
func (in *Input) Close() error {
	in.box.Drop()
	in.grant(in.credit.Drain())
	in.request.session.out.Flush()
	return nil
}

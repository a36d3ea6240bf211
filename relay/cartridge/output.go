package cartridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/stream"
)

// Short writes to a scalar gather until there are gatherSize bytes, or until gatherTime after the first of them, when
// the next one comes.
const (
	gatherSize = 4096
	gatherTime = 20 * time.Millisecond
)

// OutputOptions are the options of [Request.Output]. The zero value is a scalar.
type OutputOptions struct {
	Sequence  bool       // of items, for WriteItem and WriteValue
	Unbounded bool       // it may never end: requesters have to take it piece by piece
	Meta      frame.Meta // of the stream, such as a title or a sample rate
}

// An Output is a stream of the response. It waits for the requester's credit, and ends that with the handler's
// context. It is safe for concurrent use.
type Output struct {
	request  *Request
	id       string
	gate     *flow.Gate
	sequence bool
	live     bool // no short writes gather

	mu      sync.Mutex
	out     *stream.Out
	buf     []byte // gathers
	since   time.Time
	waiting bool  // counted in Request.waiters
	err     error // for good; errOutputClosed after Close
}

var (
	_ io.WriteCloser = (*Output)(nil)
	_ io.ReaderFrom  = (*Output)(nil)
)

var (
	errOutputClosed = errors.New("the output is closed")
	errScalar       = errors.New("an item for an output that is a scalar")
	errSequence     = errors.New("bytes for an output that is a sequence")
)

// Output returns a new stream of the response. No options make a scalar. An empty media is media:.
func (r *Request) Output(media string, o *OutputOptions) *Output {
	if o == nil {
		o = &OutputOptions{}
	}
	if media == "" {
		media = "media:"
	}
	id := frame.NewUUID().String()
	start := frame.NewStreamStart(r.id, []byte(id), []byte(media))
	start.IsSequence, start.Meta = frame.Some(o.Sequence), o.Meta
	if o.Unbounded {
		start.Unbounded = frame.Some(true)
	}
	return r.output(id, start, o)
}

func (r *Request) output(id string, start frame.Frame, o *OutputOptions) *Output {
	limits := r.session.limits
	out := &Output{
		request: r, id: id, gate: r.gates.Open(id, limits.InitialCredit), sequence: o.Sequence, live: o.Unbounded,
	}
	out.out = stream.NewOut(outputSink{out}, out.gate, start, limits)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outputs = append(r.outputs, out)
	return out
}

// An outputSink is where the frames of an output go.
type outputSink struct{ *Output }

func (s outputSink) Queue(ctx context.Context, f *frame.Frame) error {
	s.proceed()
	return s.request.queue(ctx, f)
}

// Flush says that the output may wait now: until it proceeds, whatever is consumed of the arguments is granted at
// once.
func (s outputSink) Flush() {
	if !s.waiting {
		s.waiting = true
		s.request.waiters.Add(1)
	}
	s.request.flush()
}

func (o *Output) proceed() {
	if o.waiting {
		o.waiting = false
		o.request.waiters.Add(-1)
	}
}

// Write writes bytes of a scalar. Short writes gather: they go out once there are 4096 bytes, with a write that comes
// 20 ms after the first of them, with Flush, at the end, and before the handler waits for something. Those of an
// unbounded output do not gather.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return 0, o.err
	case o.sequence:
		return 0, errSequence
	case len(p) == 0:
		return 0, nil
	}
	if err := o.write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (o *Output) write(p []byte) error {
	if len(o.buf) == 0 && (o.live || len(p) >= gatherSize) {
		return o.send(p)
	}
	if len(o.buf)+len(p) < gatherSize {
		if len(o.buf) == 0 {
			o.since = time.Now()
		}
		o.buf = append(o.buf, p...)
		if time.Since(o.since) < gatherTime {
			return nil
		}
		return o.sendGathered()
	}
	fill := min(len(p), gatherSize-len(o.buf))
	o.buf = append(o.buf, p[:fill]...)
	if err := o.sendGathered(); err != nil || fill == len(p) {
		return err
	}
	return o.write(p[fill:])
}

// send sends bytes now.
func (o *Output) send(p []byte) error {
	return o.sent(o.out.Scalar(o.request.ctx, p))
}

func (o *Output) sendGathered() error {
	if len(o.buf) == 0 {
		return nil
	}
	return o.sent(o.queueGathered())
}

// queueGathered is sendGathered, but leaves the bytes to be written with what follows.
func (o *Output) queueGathered() error {
	if len(o.buf) == 0 {
		return nil
	}
	err := o.out.Scalar(o.request.ctx, o.buf)
	o.buf = o.buf[:0]
	return o.queued(err)
}

// queued takes note of what was queued. An error stays: the stream has a hole.
func (o *Output) queued(err error) error {
	o.proceed()
	if err != nil {
		o.err = err
	}
	return err
}

// sent is queued, and lets go what was queued.
func (o *Output) sent(err error) error {
	if err = o.queued(err); err == nil {
		o.request.session.out.Flush()
	}
	return err
}

// ReadFrom writes what it reads from a reader, until io.EOF. [io.Copy] makes use of it.
func (o *Output) ReadFrom(in io.Reader) (read int64, err error) {
	buf := make([]byte, readChunks*min(stream.ChunkSize(o.request.session.limits), frame.DefaultMaxChunk))
	for {
		o.request.flush()
		n, err := in.Read(buf)
		read += int64(n)
		if n > 0 {
			if _, err := o.Write(buf[:n]); err != nil {
				return read, err
			}
		}
		if err == io.EOF {
			return read, nil
		}
		if err != nil {
			return read, err
		}
	}
}

// readChunks is how many CHUNKs are read from a reader at once: so many are hashed at the same time.
const readChunks = 4

// Flush sends what has gathered.
func (o *Output) Flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	return o.sendGathered()
}

// tryFlush sends what has gathered if nobody uses the output and there is credit for it: it never waits.
func (o *Output) tryFlush() {
	if !o.mu.TryLock() {
		return
	}
	defer o.mu.Unlock()
	chunks := uint64(len(o.buf)/stream.ChunkSize(o.request.session.limits)) + 1
	if o.err == nil && len(o.buf) > 0 && o.gate.Available() >= chunks && !o.request.session.out.Full() {
		o.sendGathered()
	}
}

// WriteItem writes an item of a sequence, which is one well-formed CBOR item.
func (o *Output) WriteItem(item Item) error {
	if err := cbor.Wellformed(item.CBOR); err != nil {
		return fmt.Errorf("an item that is no CBOR: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return o.err
	case !o.sequence:
		return errScalar
	}
	return o.sent(o.out.Item(o.request.ctx, item))
}

// WriteValue writes an item of a sequence that is a Go value, by the rules of fxamacker/cbor.
func (o *Output) WriteValue(v any) error {
	item, err := cbor.Marshal(v)
	if err != nil {
		return err
	}
	return o.WriteItem(Item{CBOR: item})
}

// bytesItem returns bytes as a CBOR byte string.
func bytesItem(data []byte) ([]byte, error) { return cbor.Marshal(data) }

// Close ends the stream. A stream that is open when the handler returns nil is closed then. It may be called twice.
func (o *Output) Close() error {
	defer o.request.session.out.Flush()
	return o.close()
}

// close is Close, but leaves what it sends to be written with what follows.
func (o *Output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err == errOutputClosed:
		return nil
	case o.err != nil:
		return o.err
	}
	if err := o.queueGathered(); err != nil {
		return err
	}
	if err := o.out.End(o.request.ctx); err != nil {
		o.err = err
		return err
	}
	o.err = errOutputClosed
	o.request.gates.Forget(o.id)
	return nil
}

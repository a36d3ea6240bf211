// Package stream has the two ends of a stream under credit, for whoever requests and whoever serves: an [Out] sends
// one, an [In] takes one apart, and its [Credit] says what to grant.
package stream

import (
	"context"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// A Sink is where the frames of a request go.
type Sink interface {
	// Queue sends a frame, and is done with it when it returns. It may hold it back until Flush.
	Queue(ctx context.Context, f *frame.Frame) error

	// Flush lets go what was held back, and grants what is due. It comes before every wait.
	Flush()
}

// An Out sends a stream. It is not safe for concurrent use.
type Out struct {
	sink    Sink
	gate    *flow.Gate
	start   frame.Frame
	chunker *flow.Chunker
	started bool

	repeats  uint64 // CHUNKs of Repeat
	repeated frame.Frame
}

// NewOut returns what sends the stream that start begins, over a link with the limits l. It keeps start.
func NewOut(sink Sink, gate *flow.Gate, start frame.Frame, l frame.Limits) *Out {
	return &Out{sink: sink, gate: gate, start: start, chunker: flow.NewChunker(&start, ChunkSize(l))}
}

// ChunkSize returns how many bytes of data go into a CHUNK: what was negotiated, but no more than fits into a frame
// beside its head and some meta.
func ChunkSize(l frame.Limits) int {
	const beside = 4096
	maxFrame := uint64(l.FrameLimit())
	return int(max(1, min(l.MaxChunk, maxFrame-min(beside, maxFrame/2))))
}

// Start sends the STREAM_START, once. The other methods do it by themselves.
func (o *Out) Start(ctx context.Context) error {
	if o.started {
		return nil
	}
	o.started = true
	return o.sink.Queue(ctx, &o.start)
}

// Scalar sends bytes of a scalar; none is a CHUNK too. After an error the stream is broken.
func (o *Out) Scalar(ctx context.Context, data []byte) error {
	if err := o.Start(ctx); err != nil {
		return err
	}
	for f := range o.chunker.Scalar(data) {
		if err := o.chunk(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// Item sends an item of a sequence. After an error the stream is broken.
func (o *Out) Item(ctx context.Context, item flow.Item) error {
	if err := o.Start(ctx); err != nil {
		return err
	}
	for f := range o.chunker.Item(item.CBOR, item.Meta) {
		if err := o.chunk(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// Repeat sends a CHUNK of another stream as one of this. It has the index that it had there, so that all of them have to
// be sent.
func (o *Out) Repeat(ctx context.Context, chunk *frame.Frame) error {
	if err := o.Start(ctx); err != nil {
		return err
	}
	o.repeated = *chunk
	o.repeated.StreamID = o.start.StreamID
	o.repeats++
	return o.chunk(ctx, &o.repeated)
}

// chunk sends a CHUNK when there is credit for it.
func (o *Out) chunk(ctx context.Context, f *frame.Frame) error {
	if !o.gate.TryAcquire(1) {
		o.sink.Flush()
		if err := o.gate.Acquire(ctx, 1); err != nil {
			return err
		}
	}
	return o.sink.Queue(ctx, f)
}

// Sent returns how many CHUNKs were sent.
func (o *Out) Sent() uint64 { return o.chunker.Sent() + o.repeats }

// End sends the STREAM_END. A scalar of which nothing was sent is no empty one: see Scalar.
func (o *Out) End(ctx context.Context) error {
	if err := o.Start(ctx); err != nil {
		return err
	}
	o.start = o.chunker.End() // which is in the way no longer
	if o.start.ChunkCount.IsSet() {
		o.start.ChunkCount = frame.Some(o.Sent())
	}
	return o.sink.Queue(ctx, &o.start)
}

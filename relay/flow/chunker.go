package flow

import (
	"bytes"
	"iter"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/cbor"
)

// A Chunker cuts what a stream carries into CHUNK frames. The kind of the stream says how:
//
//   - a sequence takes [Chunker.Item] for each of its items,
//   - a scalar [Chunker.Scalar], for each part of its bytes,
//   - a stream of neither kind [Chunker.Payload], once.
//
// The frames of an iteration are one frame, and its bytes, over and over: each is valid until
// the next one is asked for. A frame that was yielded counts as sent. Neither what is cut nor the
// frame may change meanwhile. Frames have no number (Seq) yet.
//
// A Chunker is not safe for concurrent use. No frame costs an allocation.
type Chunker struct {
	start  frame.Frame // what all frames of the stream have
	max    int
	sent   uint64
	chunk  frame.Frame
	buf    []byte    // of the payloads that are not borrowed
	pieces [4][]byte // what goes into the next CHUNKs
	sums   [4]uint64 // of their payloads
}

// NewChunker returns a chunker of the stream that a STREAM_START begins, for at most maxChunk
// bytes of data in a CHUNK; 0 and less is [frame.DefaultMaxChunk]. It keeps nothing of start.
func NewChunker(start *frame.Frame, maxChunk int) *Chunker {
	if maxChunk <= 0 {
		maxChunk = frame.DefaultMaxChunk
	}
	return &Chunker{max: maxChunk, start: frame.Frame{
		ID: start.ID, RoutingID: start.RoutingID, StreamID: bytes.Clone(start.StreamID), Unbounded: start.Unbounded,
	}}
}

// Payload yields the CHUNKs of a payload as it is. Each says where it belongs, the first its
// length in all and its content type, which is borrowed, and the last that it is the last. An
// empty payload is one CHUNK.
func (c *Chunker) Payload(payload, contentType []byte) iter.Seq[*frame.Frame] {
	return func(yield func(*frame.Frame) bool) { c.payload(payload, contentType, yield) }
}

func (c *Chunker) payload(payload, contentType []byte, yield func(*frame.Frame) bool) {
	offset := 0
	for rest, n := c.cut(payload, false); n > 0; rest, n = c.cutMore(rest, false) {
		for i, piece := range c.pieces[:n] {
			f := c.next(piece, c.sums[i])
			if offset == 0 {
				f.ContentType, f.Len = contentType, frame.Some(uint64(len(payload)))
			}
			f.Offset = frame.Some(uint64(offset))
			if offset += len(piece); offset == len(payload) {
				f.EOF = frame.Some(true)
			}
			if !yield(f) {
				return
			}
		}
	}
}

// Scalar yields CHUNKs that hold a CBOR byte string each, with data in them. No data is one
// CHUNK with an empty string.
func (c *Chunker) Scalar(data []byte) iter.Seq[*frame.Frame] {
	return func(yield func(*frame.Frame) bool) { c.scalar(data, yield) }
}

func (c *Chunker) scalar(data []byte, yield func(*frame.Frame) bool) {
	for rest, n := c.cut(data, true); n > 0; rest, n = c.cutMore(rest, true) {
		for i, piece := range c.pieces[:n] {
			c.buf = append(cbor.AppendHead(c.buf[:0], cbor.Bytes, uint64(len(piece))), piece...)
			if !yield(c.next(c.buf, c.sums[i])) {
				return
			}
		}
	}
}

// Item yields the CHUNKs of an item of a sequence, which is one CBOR value. The first has the
// item's meta, which is borrowed.
func (c *Chunker) Item(item []byte, meta frame.Meta) iter.Seq[*frame.Frame] {
	return func(yield func(*frame.Frame) bool) { c.item(item, meta, yield) }
}

func (c *Chunker) item(item []byte, meta frame.Meta, yield func(*frame.Frame) bool) {
	for rest, n := c.cut(item, false); n > 0; rest, n = c.cutMore(rest, false) {
		for i, piece := range c.pieces[:n] {
			f := c.next(piece, c.sums[i])
			f.Meta, meta = meta, frame.Meta{}
			if !yield(f) {
				return
			}
		}
	}
}

// cut makes the first pieces of data, one at least, and their sums. It returns what is left of
// data and how many pieces there are. Wrapped pieces go into byte strings, which the sums are of.
func (c *Chunker) cut(data []byte, wrapped bool) (rest []byte, n int) {
	var head [cbor.LongestHead]byte
	for ; n < len(c.pieces) && (n == 0 || len(data) > 0); n++ {
		size := min(c.max, len(data))
		c.pieces[n], data = data[:size:size], data[size:]
		c.sums[n] = fnvBasis
		if wrapped {
			c.sums[n] = sumOn(fnvBasis, cbor.AppendHead(head[:0], cbor.Bytes, uint64(size)))
		}
	}
	sumAllOn(c.sums[:n], c.pieces[:n])
	return data, n
}

// cutMore is cut for what it left: nothing makes no pieces.
func (c *Chunker) cutMore(data []byte, wrapped bool) (rest []byte, n int) {
	if len(data) == 0 {
		return nil, 0
	}
	return c.cut(data, wrapped)
}

// next makes the stream's next CHUNK.
func (c *Chunker) next(payload []byte, sum uint64) *frame.Frame {
	if payload == nil {
		payload = []byte{}
	}
	c.chunk = frame.Frame{
		Type: frame.TypeChunk, ID: c.start.ID, RoutingID: c.start.RoutingID, StreamID: c.start.StreamID,
		Payload: payload, ChunkIndex: frame.Some(c.sent), Checksum: frame.Some(sum),
	}
	c.sent++
	return &c.chunk
}

// Sent returns how many CHUNKs were yielded.
func (c *Chunker) Sent() uint64 { return c.sent }

// End returns the stream's STREAM_END, with the number of CHUNKs unless the stream is unbounded.
// Its texts belong to the chunker.
func (c *Chunker) End() frame.Frame {
	f := frame.Frame{
		Type: frame.TypeStreamEnd, ID: c.start.ID, RoutingID: c.start.RoutingID, StreamID: c.start.StreamID,
	}
	if !c.start.Unbounded.Or(false) {
		f.ChunkCount = frame.Some(c.sent)
	}
	return f
}

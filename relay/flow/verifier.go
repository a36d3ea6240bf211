package flow

import (
	"fmt"

	"github.com/cosim-go/cosim/relay/frame"
)

// A Verifier checks that the CHUNKs of a stream are whole: that none is missing, twice or out of
// order, and that their bytes are those that were sent. Its errors are of kind
// [frame.ErrProtocol] and for good: every call after one fails with the same. It is not safe for
// concurrent use.
type Verifier struct {
	streamID  string
	unbounded bool
	due       uint64 // index of the next CHUNK
	ended     bool
	failed    error // the first error
}

// NewVerifier returns a verifier of the stream that a STREAM_START begins.
func NewVerifier(start *frame.Frame) *Verifier {
	v := newVerifier(start)
	return &v
}

func newVerifier(start *frame.Frame) Verifier {
	return Verifier{streamID: string(start.StreamID), unbounded: start.Unbounded.Or(false)}
}

// Chunk checks the stream's next CHUNK, its checksum too, which is most of the work.
func (v *Verifier) Chunk(f *frame.Frame) error {
	index, _ := f.ChunkIndex.Get()
	sum, _ := f.Checksum.Get()
	switch {
	case v.failed != nil:
		return v.failed
	case f.Type != frame.TypeChunk:
		return v.fail("a %v frame where a chunk is due", f.Type)
	case v.ended:
		return v.fail("a chunk after the stream's end")
	case index != v.due:
		return v.fail("chunk %d where chunk %d is due", index, v.due)
	case f.Payload == nil:
		return v.fail("chunk %d has no payload", index)
	case sum != Checksum(f.Payload):
		return v.fail("chunk %d: its checksum is %#016x, that of its payload %#016x", index, sum, Checksum(f.Payload))
	}
	v.due++
	return nil
}

// End checks the stream's STREAM_END: it has the number of CHUNKs that came. Only an unbounded
// stream may end without one.
func (v *Verifier) End(f *frame.Frame) error {
	count, counted := f.ChunkCount.Get()
	switch {
	case v.failed != nil:
		return v.failed
	case f.Type != frame.TypeStreamEnd:
		return v.fail("a %v frame where the stream's end is due", f.Type)
	case v.ended:
		return v.fail("it ends twice")
	case !counted && !v.unbounded:
		return v.fail("it ends without a number of chunks")
	case counted && count != v.due:
		return v.fail("%d chunks came, %d were sent", v.due, count)
	}
	v.ended = true
	return nil
}

// fail returns an error and makes it stay.
func (v *Verifier) fail(format string, args ...any) error {
	v.failed = frame.Errorf(frame.ErrProtocol, "stream %q: "+format, append([]any{v.streamID}, args...)...)
	return v.failed
}

// tooLong is fail for what is no fault of the stream.
func (v *Verifier) tooLong(limit uint64) error {
	v.failed = fmt.Errorf("stream %q: %w, which is %d bytes at most", v.streamID, ErrTooLong, limit)
	return v.failed
}

package cartridge

import (
	"io"

	"github.com/cosim-go/cosim/relay/frame"
)

// OutputOptions are the options of [Request.Output]. The zero value is a scalar.
type OutputOptions struct {
	Sequence  bool       // of items, for WriteItem and WriteValue
	Unbounded bool       // it may never end: requesters have to take it piece by piece
	Meta      frame.Meta // of the stream, such as a title or a sample rate
}

// An Output is a stream of the response. It waits for the requester's credit, and ends that with the handler's context. It is
// safe for concurrent use.
type Output struct{}

var (
	_ io.WriteCloser = (*Output)(nil)
	_ io.ReaderFrom  = (*Output)(nil)
)

// Write writes bytes of a scalar. Short writes gather: they go out once there are 4096 bytes, with a write that comes
// 20 ms after the first of them, with Flush, and at the end.
func (o *Output) Write(p []byte) (int, error) { panic("cartridge: not there yet") }

// ReadFrom writes what it reads from a reader, until io.EOF. [io.Copy] makes use of it.
func (o *Output) ReadFrom(in io.Reader) (int64, error) { panic("cartridge: not there yet") }

// Flush sends what has gathered.
func (o *Output) Flush() error { panic("cartridge: not there yet") }

// WriteItem writes an item of a sequence, which is one well-formed CBOR item.
func (o *Output) WriteItem(item Item) error { panic("cartridge: not there yet") }

// WriteValue writes an item of a sequence that is a Go value, by the rules of fxamacker/cbor.
func (o *Output) WriteValue(v any) error { panic("cartridge: not there yet") }

// Close ends the stream. A stream that is open when the handler returns nil is closed then. It may be called twice.
func (o *Output) Close() error { panic("cartridge: not there yet") }

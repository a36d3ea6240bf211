package cartridge

import (
	"io"
	"iter"

	"github.com/cosim-go/cosim/relay/frame"
)

// An Input is an argument of a request: a scalar to be read, or a sequence of items. It is not safe for concurrent use, but
// different inputs of a request are.
type Input struct{}

// ID returns the stream's id, such as arg0.
func (in *Input) ID() string { panic("cartridge: not there yet") }

// Media returns the media URN of the argument.
func (in *Input) Media() string { panic("cartridge: not there yet") }

// Sequence says whether the argument is a sequence; absent when the requester does not say.
func (in *Input) Sequence() frame.Optional[bool] { panic("cartridge: not there yet") }

// Unbounded reports whether the argument may never end, so that it has to be taken piece by piece.
func (in *Input) Unbounded() bool { panic("cartridge: not there yet") }

// Meta returns what the requester says of the argument.
func (in *Input) Meta() frame.Meta { panic("cartridge: not there yet") }

// Read reads the bytes of a scalar, and those of each of the items of a sequence one behind the other, as CBOR. After the end it returns
// io.EOF.
func (in *Input) Read(p []byte) (int, error) { panic("cartridge: not there yet") }

// WriteTo writes what is left to w, without copies in between. [io.Copy] makes use of it.
func (in *Input) WriteTo(w io.Writer) (int64, error) { panic("cartridge: not there yet") }

// Items yields the items of a sequence, as they come. An item is borrowed until the next one. Of a scalar each CHUNK is an
// item: a CBOR byte string, as a rule. An error is the last that it yields.
func (in *Input) Items() iter.Seq2[Item, error] { panic("cartridge: not there yet") }

// Closing returns a channel that is closed when the requester asks the handler to end this input and to finish as usual.
func (in *Input) Closing() <-chan struct{} { panic("cartridge: not there yet") }

// Close discards what is left, also what is still to come. It never waits.
func (in *Input) Close() error { panic("cartridge: not there yet") }

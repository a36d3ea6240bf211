package call

import (
	"bytes"
	"io"
	"iter"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// An Item is a value of a sequence: one CBOR item, with what its first CHUNK says in meta.
type Item = flow.Item

// An Arg is an argument of a request. Exactly one of Body and Items has its value; an Arg with neither is empty.
type Arg struct {
	Media string // media URN; "" is media:

	// Body is a scalar: its bytes until io.EOF. It is read by a goroutine of the call, is not closed, and is not read
	// any more after [Call.Close] returned, except for a Read that waits then.
	Body io.Reader

	// Items is a sequence. An error of it ends the request as one of Body does.
	Items iter.Seq2[Item, error]

	Unbounded bool       // it may never end: the handler has to take it piece by piece
	Meta      frame.Meta // of the stream, such as a title or a sample rate
}

// Bytes returns an argument of bytes, which must not change until the call is closed.
func Bytes(media string, data []byte) Arg {
	return Arg{Media: media, Body: bytes.NewReader(data)}
}

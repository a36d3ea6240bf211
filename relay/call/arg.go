package call

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// An Item is a value of a sequence: one CBOR item, with what its first CHUNK says in meta.
type Item = flow.Item

// An Arg is an argument of a request. Exactly one of Body and Items has its value; an Arg with neither is an empty
// scalar.
type Arg struct {
	Media string // media URN; "" is media:

	// Body is a scalar: its bytes until io.EOF. It is not closed.
	Body io.Reader

	// Items is a sequence, of well-formed CBOR items. An error that it yields ends the request as one of Body does.
	Items iter.Seq2[Item, error]

	Unbounded bool       // it may never end: the handler has to take it piece by piece
	Meta      frame.Meta // of the stream, such as a title or a sample rate
}

// Bytes returns an argument of bytes, which must not change until the call is closed.
func Bytes(media string, data []byte) Arg {
	return Arg{Media: media, Body: bytes.NewReader(data)}
}

func (a *Arg) check(i int) error {
	if a.Body != nil && a.Items != nil {
		return fmt.Errorf("argument %d has both a body and items", i)
	}
	return nil
}

// start returns the STREAM_START of argument number i. Only a sequence says what it is.
func (a *Arg) start(id frame.ID, i int) frame.Frame {
	media := a.Media
	if media == "" {
		media = "media:"
	}
	f := frame.NewStreamStart(id, []byte(argID(i)), []byte(media))
	if a.Items != nil {
		f.IsSequence = frame.Some(true)
	}
	if a.Unbounded {
		f.Unbounded = frame.Some(true)
	}
	f.Meta = a.Meta
	return f
}

// argIDs are the stream ids of the first arguments.
var argIDs = [...]string{"arg0", "arg1", "arg2", "arg3", "arg4", "arg5", "arg6", "arg7"}

func argID(i int) string {
	if i < len(argIDs) {
		return argIDs[i]
	}
	return "arg" + strconv.Itoa(i)
}

// ready returns how many bytes a reader has at hand, and false when a Read may wait.
func ready(in io.Reader) (size int, ok bool) {
	switch in := in.(type) {
	case nil:
		return 0, true
	case *bytes.Reader:
		return in.Len(), true
	case *strings.Reader:
		return in.Len(), true
	case *bytes.Buffer:
		return in.Len(), true
	}
	return 0, false
}

// An argError is a failure of the caller's own argument.
type argError struct {
	arg int
	err error
}

func (e *argError) Error() string { return fmt.Sprintf("reading argument %d: %v", e.arg, e.err) }
func (e *argError) Unwrap() error { return e.err }

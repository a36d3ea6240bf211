package cartridge

import (
	"context"
	"iter"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
)

// A Request is what a handler serves. It belongs to the handler and is of no use after that has returned. Its methods are safe for
// concurrent use.
type Request struct{}

var _ call.Opener = (*Request)(nil)

// ID returns the request's id.
func (r *Request) ID() frame.ID { panic("cartridge: not there yet") }

// Cap returns the cap that was asked for, as it was asked for.
func (r *Request) Cap() string { panic("cartridge: not there yet") }

// ContentType returns the content type of the request.
func (r *Request) ContentType() string { panic("cartridge: not there yet") }

// Meta returns what came with the request.
func (r *Request) Meta() frame.Meta { panic("cartridge: not there yet") }

// Next waits for the next argument. After the last one it fails with io.EOF; when the requester gave up its body, with
// the [*Error] that it sent. Arguments may be read at the same time. One that is not read to its end is to be
// closed, or the one behind it may never come.
func (r *Request) Next() (*Input, error) { panic("cartridge: not there yet") }

// Args yields the arguments that Next returns, until io.EOF, which it does not yield.
func (r *Request) Args() iter.Seq2[*Input, error] { panic("cartridge: not there yet") }

// Output returns a new stream of the response. No options make a scalar.
func (r *Request) Output(media string, o *OutputOptions) *Output { panic("cartridge: not there yet") }

// Progress tells how far the handler is, from 0 to 1, and what it is doing. The last one is told again at the end of the
// request.
func (r *Request) Progress(done float64, message string) { panic("cartridge: not there yet") }

// Log sends a message to the requester. A level that is blank is info, an attribution that is none internal, and a message that
// is blank is not sent.
func (r *Request) Log(level string, a frame.Attribution, message string) {
	panic("cartridge: not there yet")
}

// Open begins a peer call: a request to whatever serves the cap, made for this one. It is cancelled with it, and
// when the handler returns. It is what makes a Request a [call.Opener]; see [call.Do] and [call.Start].
func (r *Request) Open(ctx context.Context, q call.Request) (call.Link, error) {
	panic("cartridge: not there yet")
}

// Closing returns a channel that is closed when the requester asks for the orderly end of live inputs, of one argument
// or of all: the handler should stop capturing, or waiting, and finish as usual.
func (r *Request) Closing() <-chan struct{} { panic("cartridge: not there yet") }

// ResourceState returns the newest state of the host's resources that this cartridge was given, nil for none, and a
// channel that is closed when there is a newer one. The bytes must not be changed.
func (r *Request) ResourceState() (state []byte, changed <-chan struct{}) {
	panic("cartridge: not there yet")
}

// Policy returns the newest policy, nil for none, and a channel that is closed when there is a newer one.
func (r *Request) Policy() (p *Policy, changed <-chan struct{}) { panic("cartridge: not there yet") }

// Overrun counts what a live source of the handler lost because it was not taken in time.
func (r *Request) Overrun() { panic("cartridge: not there yet") }

// A Policy is what the switch wants of its cartridges. It must not be changed.
type Policy struct {
	Meta    frame.Meta
	Payload []byte
}

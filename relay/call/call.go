package call

import (
	"context"

	"github.com/cosim-go/cosim/relay/frame"
)

// A Call is a request that was begun. Its methods are safe for concurrent use, except that Next, Collect and End belong to
// one goroutine at a time.
type Call struct {
	link Link
}

// Start begins a request and sends its arguments, in a goroutine of its own, while the caller reads the response. The
// request is cancelled when ctx ends, for the reason that [CancelCause] makes of it, and when reading an argument
// fails. Whoever starts a call closes it.
func Start(ctx context.Context, o Opener, r Request, args ...Arg) (*Call, error) {
	panic("call: not there yet")
}

// ID returns the request's id.
func (c *Call) ID() frame.ID { panic("call: not there yet") }

// Next returns the next event of the response and waits for it. With the call of Next the event before counts as consumed:
// its sender gets new credit.
//
// After an END that says success Next fails with io.EOF, after another END or an ERR with an [*Error]. A response
// that breaks the rules is an *Error too, PROTOCOL_ERROR or CREDIT_VIOLATION, and is cancelled. When reading an
// argument failed it is an error that wraps that. All these are for good. When ctx ends Next fails with its cause,
// and can be called again.
func (c *Call) Next(ctx context.Context) (Event, error) { panic("call: not there yet") }

// Collect reads the response to its end and returns its streams, at most 64 MiB in all. It fails as Next does,
// for a stream that is unbounded with [flow.ErrUnbounded], and for one that is too long with [flow.ErrTooLong]; these
// two cancel the request.
func (c *Call) Collect(ctx context.Context) ([]Output, error) { panic("call: not there yet") }

// CollectMax is Collect with a limit of max bytes.
func (c *Call) CollectMax(ctx context.Context, max int) ([]Output, error) {
	panic("call: not there yet")
}

// End returns what the END of the response said: the zero EndInfo before it came. It borrows nothing.
func (c *Call) End() frame.EndInfo { panic("call: not there yet") }

// Cancel asks for the end of the request: Next goes on to what was sent before, and to the ERR that ends it. Force
// kills the process that serves it, with everything else that it serves.
func (c *Call) Cancel(force bool, reason *Cancelled) error { panic("call: not there yet") }

// CloseStream asks the handler to end a live input, an argument that is unbounded, and to finish as usual. "" is all of
// them.
func (c *Call) CloseStream(ctx context.Context, id string) error { panic("call: not there yet") }

// Close ends the call. A request that still runs is abandoned and cancelled with the code ABORTED. It may be called
// twice, and at any time.
func (c *Call) Close() error { panic("call: not there yet") }

// Do sends arguments to a cap and returns the bytes of the response, which has to be of one stream; the items of a
// sequence come one behind the other. See [Call.Collect] for the limit.
func Do(ctx context.Context, o Opener, cap string, args ...Arg) ([]byte, error) {
	panic("call: not there yet")
}

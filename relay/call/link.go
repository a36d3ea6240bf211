package call

import (
	"context"
	"errors"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

// ErrEnded is the error of [Link.Send] when the request has ended: nobody is left to take the frame.
var ErrEnded = errors.New("the request has ended")

// A Request is what is asked for, and of whom.
type Request struct {
	Cap         string     // cap URN
	Preferred   string     // cap URN of a provider that comes before all others; "" for none
	Cartridge   string     // id of the cartridge that has to serve it, instead of the best by cap; "" for none
	Parent      frame.ID   // the request that a peer call is made for; the zero ID for none
	ID          frame.ID   // of this request; the zero ID for a fresh UUID
	ContentType string     // "" is application/cbor
	Meta        frame.Meta // what the handler gets with the request, beside what the fields above put there

	// OnCredit, when not nil, gets each CREDIT that arrives for the arguments, at once, from whoever reads the
	// connection. The frame is borrowed for the call. OnCredit must not block and must not use the Link.
	OnCredit func(*frame.Frame)

	// OnChunk, when not nil, gets each CHUNK of the response when it arrives, before [Link.Next] can return it, in
	// the same way: only on arrival it is known whether the sender had credit for it.
	OnChunk func(*frame.Frame)

	// Batch says that the body follows at once: Open may leave the REQ to be written with what comes next, by
	// [Link.Send] or [Batcher.Flush], so that a short request goes out in one piece.
	Batch bool
}

// DefaultContentType is the content type of a request that names none.
const DefaultContentType = "application/cbor"

// An Opener begins requests. Openers are safe for concurrent use.
type Opener interface {
	// Open begins a request: when it returns, its REQ, which has an empty payload, is on its way, and nothing
	// of the body is. It may wait until the request is admitted, and ends the wait with the cause of ctx. The
	// request itself does not end with ctx, but with the Link.
	//
	// A request that cannot be begun fails with an [*Error] when the protocol has a code for it, such as
	// NO_HANDLER.
	Open(ctx context.Context, r Request) (Link, error)
}

// A Link carries the frames of one request. All of its methods but Next and TryNext are safe for concurrent use, and
// with those two; these belong to one goroutine at a time.
type Link interface {
	// ID returns the request's id.
	ID() frame.ID

	// Limits returns what is known now of the way to the handler: MaxChunk and InitialCredit are those of the
	// body, and InitialCredit also that of the response.
	Limits() frame.Limits

	// Send sends a STREAM_START, CHUNK, STREAM_END, END, ERR, CREDIT or CLOSE_STREAM. It sets the ids of f,
	// and is done with f when it returns. It may wait for room, and ends the wait with the cause of ctx. After the
	// end of the request it fails with [ErrEnded].
	Send(ctx context.Context, f *frame.Frame) error

	// Next returns the next flow frame of the response, in order, and waits for it. The frame is borrowed until the next
	// call of Next or TryNext. After the END or ERR was returned it fails with io.EOF. A link that fails otherwise
	// makes an ERR of it where it can. When ctx ends it fails with its cause, and nothing is lost.
	Next(ctx context.Context) (*frame.Frame, error)

	// TryNext is Next without the wait: it returns false when no frame is there, and also where Next would fail.
	TryNext() (*frame.Frame, bool)

	// Cancel asks for the end of the request. The response still has its ERR. Force kills the process that serves it.
	// A request that has ended is no error.
	Cancel(force bool, r frame.CancelReason) error

	// Drop counts a frame that the requester could not take.
	Drop(r stats.Reason, t frame.Type)

	// Close frees what the link has. A request that still runs is abandoned, which cancels it with the code ABORTED. Close
	// may be called twice.
	Close() error
}

// A Batcher is a Link that can hold frames back for a moment, so that those of a short request go out in one piece.
// Links need not be one.
type Batcher interface {
	Link

	// Queue is Send for a frame that others follow: it may stay until the next Send or Flush.
	Queue(ctx context.Context, f *frame.Frame) error

	// Flush lets go what was held back. It does not wait.
	Flush()
}

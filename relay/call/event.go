package call

import "github.com/cosim-go/cosim/relay/frame"

// A Kind says what an [Event] is.
type Kind uint8

// The kinds of events.
const (
	EventStart    Kind = iota + 1 // a stream of the response begins
	EventData                     // bytes of a scalar
	EventItem                     // an item of a sequence, or a value of a scalar that is neither bytes nor text
	EventEnd                      // a stream has ended
	EventLog                      // a message of the handler, or of who keeps it waiting: queued, dequeued
	EventProgress                 // how far the handler is
)

// An Event is a piece of the response.
type Event struct {
	Kind     Kind
	Stream   *Stream // of the first four kinds
	Data     []byte  // of EventData; borrowed until the next call of Next
	Item     Item    // of EventItem; borrowed as Data is
	Log      Log     // of the last two kinds
	Progress float64 // of EventProgress, from 0 to 1
}

// A Stream is a stream of the response. It stays as it is and may be kept.
type Stream struct {
	ID        string
	Media     string               // media URN
	Sequence  frame.Optional[bool] // it has items; absent when it does not say
	Unbounded bool                 // it may never end
	Meta      frame.Meta
}

// A Log is what a LOG says. It borrows nothing.
type Log struct {
	Level       string // info, warn, error, debug, progress, queued, dequeued, or the source's own
	Message     string
	Attribution frame.Attribution // none with progress
	ArgURN      string            // media URN of the one argument concerned; "" for none
}

// An Output is a stream of the response, collected.
type Output struct {
	Stream
	Data  []byte // of a scalar
	Items []Item // of a sequence, and what was neither bytes nor text in a scalar
}

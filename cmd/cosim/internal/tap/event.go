package tap

import "github.com/cosim-go/cosim/relay/frame"

// A Direction is a way of the bytes.
type Direction string

// The directions: from the side that connected to the tap to the side that the tap connected
// to, and back.
const (
	Forward Direction = "forward"
	Back    Direction = "back"
)

// An Event is something that happened on a connection. The zero Event of a Kind has what the
// kind says.
type Event struct {
	Connection int // from 1, in the order of arrival
	Kind       EventKind
	Direction  Direction    // empty for Opened and Closed
	Offset     int64        // bytes of the direction before this; where a frame has its prefix
	Bytes      int          // of a frame with its prefix; of what is left over for Cut
	Frame      *frame.Frame // of Frame; valid while the event is reported
	Err        error        // of NoFrames and Broken
}

// An EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	Opened   EventKind = "opened"    // both sides are there
	Frame    EventKind = "frame"     // a whole frame is there
	NoFrames EventKind = "no_frames" // what comes is no frame; the rest of the direction is not looked at
	Ended    EventKind = "ended"     // the direction has ended
	Cut      EventKind = "cut"       // the direction has ended within a frame
	Broken   EventKind = "broken"    // the direction has ended with an error
	Closed   EventKind = "closed"    // both directions have ended
)

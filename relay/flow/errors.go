package flow

import (
	"errors"

	"github.com/cosim-go/cosim/relay/frame"
)

// Reasons why a [ReorderBuffer] refuses a frame. Such an error is of kind [frame.ErrProtocol]
// and wraps one of these, for errors.Is.
var (
	ErrStale     = errors.New("its number was delivered before")
	ErrDuplicate = errors.New("its number is held already")
	ErrOverflow  = errors.New("no more can be held")
)

// Reasons why a stream is not collected. They are no fault of the stream.
var (
	ErrUnbounded = errors.New("the stream may have no end")
	ErrTooLong   = errors.New("longer than what may be collected")
)

// refused returns the error for a frame that is not taken.
func refused(h frame.Head, why error) error {
	if h.RoutingID.IsZero() {
		return frame.Errorf(frame.ErrProtocol, "%v frame %d of request %v: %w", h.Type, h.Seq, h.ID, why)
	}
	return frame.Errorf(frame.ErrProtocol, "%v frame %d of request %v, routing id %v: %w",
		h.Type, h.Seq, h.ID, h.RoutingID, why)
}

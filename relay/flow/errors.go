package flow

import "errors"

// Reasons why a [ReorderBuffer] refuses a frame. Every such error is of kind
// [frame.ErrProtocol] as well.
var (
	ErrStale     = errors.New("the number was delivered before")
	ErrDuplicate = errors.New("the number is held already")
	ErrOverflow  = errors.New("too much is held")
)

package host

import (
	"slices"

	"github.com/cosim-go/cosim/relay/frame"
)

// A backlog is what waits, in order, for a process that does not run yet.
type backlog struct {
	frames []waitingFrame
	bytes  int
}

type waitingFrame struct {
	head frame.Head
	body []byte
}

func (b *backlog) add(body []byte, head *frame.Head) {
	b.frames = append(b.frames, waitingFrame{*head, slices.Clone(body)})
	b.bytes += len(body)
}

// take empties the backlog.
func (b *backlog) take() []waitingFrame {
	all := b.frames
	*b = backlog{}
	return all
}

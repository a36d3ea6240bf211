package bridge

import (
	"sync/atomic"

	"github.com/cosim-go/cosim/relay/flow"
)

// Stats are the counters of a slave since it was made.
type Stats struct {
	ToLocal  Counters // what came from the socket
	ToSocket Counters // what came from the host
}

// Counters are what one direction has done. They are as of the last time that the direction
// waited for more, and exact when it has ended; while it is busy they may lag behind.
type Counters struct {
	Frames  uint64 // passed on
	Bytes   uint64 // passed on, length prefixes included
	Kept    uint64 // taken in: by a slave RELAY_STATE frames from the socket, by a master RELAY_NOTIFY frames
	Dropped uint64 // must not cross: a RELAY_NOTIFY from the socket, a RELAY_STATE from the host or without a payload
	Held    uint64 // wait for an earlier frame of their flow; at the end, never got it
	Lost    uint64 // were held when their flow was forgotten
}

// observe takes over what a buffer counts, and returns how many frames were lost since the last
// time.
func (c *Counters) observe(order *flow.ReorderBuffer) (lost uint64) {
	s := order.Stats()
	lost = s.Dropped - c.Lost
	c.Held, c.Lost = uint64(s.Held), s.Dropped
	return lost
}

// counters is a snapshot that one goroutine publishes.
type counters struct {
	frames, bytes, kept, dropped, held, lost atomic.Uint64
}

func (c *counters) publish(n Counters) {
	c.frames.Store(n.Frames)
	c.bytes.Store(n.Bytes)
	c.kept.Store(n.Kept)
	c.dropped.Store(n.Dropped)
	c.held.Store(n.Held)
	c.lost.Store(n.Lost)
}

func (c *counters) load() Counters {
	return Counters{
		Frames: c.frames.Load(), Bytes: c.bytes.Load(), Kept: c.kept.Load(),
		Dropped: c.dropped.Load(), Held: c.held.Load(), Lost: c.lost.Load(),
	}
}

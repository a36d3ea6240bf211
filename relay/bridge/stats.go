package bridge

import "sync/atomic"

// Stats are the counters of a slave since it was made.
type Stats struct {
	ToLocal  Counters // what came from the socket
	ToSocket Counters // what came from the host
}

// Counters are what one direction of a slave has done. They are as of the last time that the
// direction waited for more; while it is busy they may lag behind.
type Counters struct {
	Frames  uint64 // passed on
	Bytes   uint64 // passed on, length prefixes included
	Kept    uint64 // RELAY_STATE frames from the socket, which the slave keeps
	Dropped uint64 // frames that must not cross: a RELAY_NOTIFY from the socket, a RELAY_STATE from the host
	Held    uint64 // waiting for an earlier frame of their flow
	Lost    uint64 // were held when their flow was forgotten
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

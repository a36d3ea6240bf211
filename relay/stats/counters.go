package stats

import (
	"sync/atomic"

	"github.com/cosim-go/cosim/relay/frame"
)

// Counters count the frames that one end of the protocol lost. They only go up. The zero value is ready,
// safe for concurrent use, and must not be copied after its first use.
type Counters struct {
	drops      [len(reasons)]byType
	stragglers byType
	overruns   atomic.Uint64
}

// Drop counts a frame that was lost because something went wrong. It panics when r is none of the reasons
// of this package.
func (c *Counters) Drop(r Reason, t frame.Type) { c.drops[r.index()].add(t) }

// Straggler counts a frame that came after the end of its request, as it may.
func (c *Counters) Straggler(t frame.Type) { c.stragglers.add(t) }

// Overrun counts what a live source lost because nobody took it in time.
func (c *Counters) Overrun() { c.overruns.Add(1) }

// Overruns returns the number of calls of Overrun.
func (c *Counters) Overruns() uint64 { return c.overruns.Load() }

// DropsTotal returns the number of drops, whatever their reasons.
func (c *Counters) DropsTotal() uint64 {
	var n uint64
	for i := range c.drops {
		n += c.drops[i].total()
	}
	return n
}

// StragglersTotal returns the number of stragglers.
func (c *Counters) StragglersTotal() uint64 { return c.stragglers.total() }

// Drops returns the drops so far. Its figures agree with each other also while frames are dropped.
func (c *Counters) Drops() Drops {
	d := Drops{ByReason: map[Reason]uint64{}, ByReasonFrameType: map[Reason]map[string]uint64{}}
	for i, r := range reasons {
		if types, n := c.drops[i].snapshot(); n > 0 {
			d.Total += n
			d.ByReason[r], d.ByReasonFrameType[r] = n, types
		}
	}
	return d
}

// Stragglers returns the stragglers so far. Its figures agree with each other, as those of Drops do.
func (c *Counters) Stragglers() Stragglers {
	types, n := c.stragglers.snapshot()
	return Stragglers{n, types}
}

// numTypes is one more than the highest type number of a frame.
const numTypes = int(frame.TypePolicy) + 1

// byType counts frames by type. The last one is for types that the protocol does not know.
type byType [numTypes + 1]atomic.Uint64

func (b *byType) add(t frame.Type) {
	if !t.Valid() {
		t = frame.Type(numTypes)
	}
	b[t].Add(1)
}

func (b *byType) total() uint64 {
	var n uint64
	for i := range b {
		n += b[i].Load()
	}
	return n
}

// snapshot returns the counters that are not zero, by the names of the types, and their sum.
func (b *byType) snapshot() (types map[string]uint64, sum uint64) {
	types = map[string]uint64{}
	for i := range b {
		n := b[i].Load()
		if n == 0 {
			continue
		}
		name := "unknown"
		if t := frame.Type(i); t.Valid() {
			name = t.String()
		}
		types[name] = n
		sum += n
	}
	return types, sum
}

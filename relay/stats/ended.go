package stats

import (
	"time"

	"github.com/cosim-go/cosim/relay/frame"
)

// What an Ended remembers. The protocol has the ring of 64, which is too small for a burst of ends: frames
// that came late by a moment would count as lost. Hence the other two.
const (
	ringSize   = 64
	remembered = time.Minute
	mostEnded  = 8192
)

// Ended remembers which requests ended lately: the 64 newest, and those of the last minute, 8192 at the
// most. A frame of one that ended lately is a straggler; of any other that is not known, a drop with
// [NoRoute]. It is not safe for concurrent use.
type Ended struct {
	now            func() time.Time
	slots          []endedSlot // a list of what is remembered, oldest first, and one of slots to use again
	index          map[frame.ID]int32
	oldest, newest int32
	ring           int32 // the oldest of those in the ring
	inRing         int
	free           int32
}

type endedSlot struct {
	id         frame.ID
	at         time.Time
	prev, next int32
	inRing     bool
}

// none is the place of no slot.
const none = -1

// NewEnded returns an Ended that remembers nothing yet. The clock is now, or [time.Now] for nil.
func NewEnded(now func() time.Time) *Ended {
	if now == nil {
		now = time.Now
	}
	return &Ended{now: now, index: map[frame.ID]int32{}, oldest: none, newest: none, ring: none, free: none}
}

// Add remembers a request that ended now. One that is remembered already counts as ended anew.
func (e *Ended) Add(id frame.ID) {
	now := e.now()
	if i, ok := e.index[id]; ok {
		e.remove(i)
	}
	e.append(id, now)
	for {
		old := &e.slots[e.oldest]
		if old.inRing || len(e.index) <= mostEnded && now.Sub(old.at) <= remembered {
			return
		}
		e.remove(e.oldest)
	}
}

// Recent reports whether the request is one that ended lately.
func (e *Ended) Recent(id frame.ID) bool {
	i, ok := e.index[id]
	if !ok {
		return false
	}
	s := &e.slots[i]
	return s.inRing || e.now().Sub(s.at) <= remembered
}

// Ring returns the newest ones, 64 at the most, the oldest first. The slice is the caller's.
func (e *Ended) Ring() []frame.ID {
	ids := make([]frame.ID, 0, e.inRing)
	for i := e.ring; i != none; i = e.slots[i].next {
		ids = append(ids, e.slots[i].id)
	}
	return ids
}

// append puts a request that is not remembered at the new end, and into the ring.
func (e *Ended) append(id frame.ID, at time.Time) {
	i := e.free
	if i == none {
		i = int32(len(e.slots))
		e.slots = append(e.slots, endedSlot{})
	} else {
		e.free = e.slots[i].next
	}
	e.slots[i] = endedSlot{id, at, e.newest, none, true}
	if e.newest == none {
		e.oldest = i
	} else {
		e.slots[e.newest].next = i
	}
	e.newest, e.index[id] = i, i
	if e.ring == none {
		e.ring = i
	}
	e.inRing++
	if e.inRing > ringSize {
		s := &e.slots[e.ring]
		s.inRing, e.ring = false, s.next
		e.inRing--
	}
}

// remove forgets the request in slot i.
func (e *Ended) remove(i int32) {
	s := &e.slots[i]
	if s.prev == none {
		e.oldest = s.next
	} else {
		e.slots[s.prev].next = s.next
	}
	if s.next == none {
		e.newest = s.prev
	} else {
		e.slots[s.next].prev = s.prev
	}
	if e.ring == i {
		e.ring = s.next
	}
	if s.inRing {
		e.inRing--
	}
	delete(e.index, s.id)
	*s = endedSlot{next: e.free}
	e.free = i
}

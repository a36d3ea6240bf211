package flow

import "github.com/cosim-go/cosim/relay/frame"

// defaultMaxFlows is how many flows are remembered unless options say otherwise: as many as a
// host routes requests at once.
const defaultMaxFlows = 8192

// A store keeps a value for each of some flows, and knows which of them were touched last. It
// allocates only to hold more flows than ever before. The zero value is empty.
type store[T any] struct {
	slots []slot[T]
	table table
	hash  hasher
	free  int32 // first of the slots without a flow, tied by next; 0 when there is none
	last  int32 // where a flow was found last; 0 when it is gone
}

// A slot is a flow of a store, or the head of a ring of them.
type slot[T any] struct {
	key        Key
	hash       uint32
	prev, next int32 // in a ring, the one touched later and the one touched earlier
	value      T
}

// A ring orders flows by when they were touched. Each flow of a store is in one of two; the
// rings begin and end at these slots.
type ring = int32

const (
	resting ring = iota
	holding
	rings
)

// len returns how many flows there are.
func (s *store[T]) len() int { return s.table.used }

// find returns the place of a flow, and 0 when it is unknown.
func (s *store[T]) find(rid, xid *frame.ID) int32 {
	if s.last != 0 && s.is(s.last, rid, xid) {
		return s.last
	}
	if s.table.used == 0 {
		return 0
	}
	hash := s.hash.key(rid, xid)
	for i := s.table.first(hash); ; i = s.table.next(i) {
		c := s.table.cells[i]
		if c.place == 0 {
			return 0
		}
		if c.hash == hash && s.is(c.place, rid, xid) {
			s.last = c.place
			return c.place
		}
	}
}

// is reports whether a place has a flow. It compares word by word: a copy of what was written
// word by word just before would wait for the writes.
func (s *store[T]) is(place int32, rid, xid *frame.ID) bool {
	key := &s.slots[place].key
	return key.RID == *rid && key.XID == *xid
}

// add adds a flow that is unknown, with a zero value, as the last one touched.
func (s *store[T]) add(k *Key, r ring) int32 {
	if s.slots == nil {
		s.begin()
	}
	place := s.free
	if place != 0 {
		s.free = s.slots[place].next
	} else {
		place = int32(len(s.slots))
		s.slots = append(s.slots, slot[T]{})
	}
	hash := s.hash.key(&k.RID, &k.XID)
	s.slots[place] = slot[T]{key: *k, hash: hash}
	s.table.insert(hash, place)
	s.link(place, r)
	s.last = place
	return place
}

func (s *store[T]) begin() {
	s.hash = newHasher()
	s.slots = make([]slot[T], rings, smallestTable)
	for r := range rings {
		s.slots[r].prev, s.slots[r].next = r, r
	}
}

// remove forgets the flow of a place.
func (s *store[T]) remove(place int32) {
	s.unlink(place)
	s.table.remove(s.slots[place].hash, place)
	s.slots[place] = slot[T]{next: s.free}
	s.free = place
	if s.last == place {
		s.last = 0
	}
}

// touch makes a flow the one of a ring that was touched last.
func (s *store[T]) touch(place int32, r ring) {
	if s.slots[r].next != place {
		s.unlink(place)
		s.link(place, r)
	}
}

// oldest returns the flow of a ring that was not touched for the longest time, and 0 when the
// ring is empty.
func (s *store[T]) oldest(r ring) int32 {
	if place := s.slots[r].prev; place >= rings {
		return place
	}
	return 0
}

func (s *store[T]) link(place int32, r ring) {
	head := &s.slots[r]
	flow := &s.slots[place]
	flow.prev, flow.next = r, head.next
	s.slots[head.next].prev = place
	head.next = place
}

func (s *store[T]) unlink(place int32) {
	flow := &s.slots[place]
	s.slots[flow.prev].next = flow.next
	s.slots[flow.next].prev = flow.prev
}

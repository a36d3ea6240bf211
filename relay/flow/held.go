package flow

import "github.com/cosim-go/cosim/relay/frame"

// A shelf keeps copies of frames, found by flow and number. Each flow has a chain of what it
// holds. Place 0 is no place.
type shelf struct {
	frames []heldFrame
	places map[heldKey]int32
	free   int32 // first of the places without a frame, tied by next
	count  int
	bytes  int64
	spares spares
}

// mostKept is for how many frames a shelf keeps room while it is empty: as many as 64 flows
// usually hold. A peer that sends everything in disorder once shall not cost memory for good.
const mostKept = 4096

type heldKey struct {
	flow int32 // place of the flow in its store
	seq  uint64
}

type heldFrame struct {
	wire       []byte
	seq        uint64
	prev, next int32 // in the chain of the flow
	typ        frame.Type
}

// find returns the place of a frame, and 0 when it is not there.
func (s *shelf) find(flow int32, seq uint64) int32 {
	return s.places[heldKey{flow, seq}]
}

// put keeps a copy of a frame, in front of the chain that begins at a place, and returns where.
func (s *shelf) put(flow, chain int32, h *frame.Head, wire []byte) int32 {
	if s.places == nil {
		s.places = map[heldKey]int32{}
		s.frames = make([]heldFrame, 1, smallestTable)
	}
	place := s.free
	if place != 0 {
		s.free = s.frames[place].next
	} else {
		place = int32(len(s.frames))
		s.frames = append(s.frames, heldFrame{})
	}
	own := append(s.spares.take(len(wire)), wire...)
	s.frames[place] = heldFrame{wire: own, seq: h.Seq, next: chain, typ: h.Type}
	if chain != 0 {
		s.frames[chain].prev = place
	}
	s.places[heldKey{flow, h.Seq}] = place
	s.count++
	s.bytes += int64(len(wire))
	return place
}

// take removes a frame. It returns it, and the place where the flow's chain begins now. The
// frame's bytes go back with s.spares.give.
func (s *shelf) take(flow, chain, place int32) (held heldFrame, begin int32) {
	held = s.frames[place]
	if held.prev != 0 {
		s.frames[held.prev].next = held.next
	} else {
		chain = held.next
	}
	if held.next != 0 {
		s.frames[held.next].prev = held.prev
	}
	s.frames[place] = heldFrame{next: s.free}
	s.free = place
	delete(s.places, heldKey{flow, held.seq})
	s.count--
	s.bytes -= int64(len(held.wire))
	if s.count == 0 && len(s.frames) > mostKept {
		s.places, s.frames, s.free = nil, nil, 0
	}
	return held, chain
}

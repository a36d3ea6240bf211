package inbox

import "sync"

// Sizes of segments, in bytes. One holds some small frames, one the longest usual CHUNK with
// its head, one the longest usual frame; what is longer is allocated as it comes.
var segmentSizes = [...]int{4 << 10, 32 << 10, 260 << 10, 1 << 20, 4 << 20}

// Spares keeps free segments for all inboxes, by their size.
var spares [len(segmentSizes)]sync.Pool

// A segment holds bodies, each behind its length.
type segment struct {
	b     []byte
	read  int // offset of the first body that is left
	class int // of spares
	next  *segment
}

// newSegment returns an empty segment with room for so many bytes.
func newSegment(need int) *segment {
	for class, size := range segmentSizes {
		if need > size {
			continue
		}
		if s, ok := spares[class].Get().(*segment); ok {
			return s
		}
		return &segment{b: make([]byte, 0, size), class: class}
	}
	return &segment{b: make([]byte, 0, need), class: len(spares)}
}

// free gives a segment back. Nobody may refer to what it held.
func (s *segment) free() {
	poison(s.b)
	if s.class < len(spares) {
		s.b, s.read, s.next = s.b[:0], 0, nil
		spares[s.class].Put(s)
	}
}

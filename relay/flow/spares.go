package flow

import "math/bits"

const (
	smallestSpare = 64      // bytes of the smallest buffer
	maxSpareBytes = 4 << 20 // bytes of buffers that are kept for later: 16 of the longest usual CHUNKs
)

// Spares keeps buffers that are free, by their size. Sizes are in steps of a quarter of a
// power of two, so that little of a buffer is for nothing.
type spares struct {
	bySize [4 * 64][][]byte
	bytes  int
}

// take returns an empty buffer with room for size bytes.
func (s *spares) take(size int) []byte {
	class, room := sizeClass(size)
	free := s.bySize[class]
	if len(free) == 0 {
		return make([]byte, 0, room)
	}
	b := free[len(free)-1]
	s.bySize[class] = free[:len(free)-1]
	s.bytes -= room
	return b[:0]
}

// give takes back a buffer from take.
func (s *spares) give(b []byte) {
	class, room := sizeClass(cap(b))
	if s.bytes+room > maxSpareBytes {
		return
	}
	s.bySize[class] = append(s.bySize[class], b)
	s.bytes += room
}

// sizeClass returns the class that a number of bytes belongs to, and how many bytes the buffers
// of the class have.
func sizeClass(size int) (class, room int) {
	size = max(size, smallestSpare)
	shift := bits.Len(uint(size-1)) - 3 // size-1 in steps of 1<<shift is 4 to 7
	steps := (size-1)>>shift + 1
	return 4*shift + steps - 5, steps << shift
}

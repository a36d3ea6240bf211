package inbox

import (
	"encoding/binary"

	"github.com/cosim-go/cosim/relay/frame"
)

// lengthSize is what stands before each body in a segment, in bytes.
const lengthSize = 4

// A queue is a list of bodies in segments. The zero value is empty.
type queue struct{ first, last *segment }

// put appends a copy of a body.
func (q *queue) put(body []byte) {
	s := q.room(lengthSize + len(body))
	s.b = binary.LittleEndian.AppendUint32(s.b, uint32(len(body)))
	s.b = append(s.b, body...)
}

// encode appends the body of a frame and returns how long it is.
func (q *queue) encode(f *frame.Frame) (int, error) {
	s := q.room(lengthSize + sizeOf(f))
	start := len(s.b)
	b, err := f.Append(append(s.b, 0, 0, 0, 0))
	if err != nil {
		return 0, err
	}
	size := len(b) - start - lengthSize
	binary.LittleEndian.PutUint32(b[start:], uint32(size))
	s.b = b
	return size, nil
}

// undo takes back the body of a size that was appended last.
func (q *queue) undo(size int) {
	q.last.b = q.last.b[:len(q.last.b)-size-lengthSize]
}

// room returns the last segment, with room for so many bytes.
func (q *queue) room(need int) *segment {
	if q.last != nil && cap(q.last.b)-len(q.last.b) >= need {
		return q.last
	}
	s := newSegment(need)
	if q.last == nil {
		q.first = s
	} else {
		q.last.next = s
	}
	q.last = s
	return s
}

// next removes the first body and returns it. It stays valid until the next call.
func (q *queue) next() (body []byte, ok bool) {
	for q.first != nil && q.first.read == len(q.first.b) {
		q.pop()
	}
	s := q.first
	if s == nil {
		return nil, false
	}
	start := s.read + lengthSize
	s.read = start + int(binary.LittleEndian.Uint32(s.b[s.read:]))
	return s.b[start:s.read:s.read], true
}

// pop gives back the first segment.
func (q *queue) pop() {
	s := q.first
	q.first = s.next
	if q.first == nil {
		q.last = nil
	}
	s.free()
}

// drop empties the queue. The body that next returned last stays valid for ever.
func (q *queue) drop() {
	if q.first != nil && q.first.read > 0 {
		q.first = q.first.next // it may be in use: left to the garbage collector
	}
	for q.first != nil {
		q.pop()
	}
	q.last = nil
}

// sizeOf returns how many bytes a frame takes at most when it is encoded, unless its meta is
// longer in canonical form.
func sizeOf(f *frame.Frame) int {
	const fixed = 256 // heads, keys, numbers and ids
	return fixed + len(f.ContentType) + len(f.Meta.Raw()) + len(f.Payload) + len(f.Cap) + len(f.StreamID) + len(f.MediaURN)
}

package inbox

import (
	"encoding/binary"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/buffer"
)

// lengthSize is what stands before each body in a buffer, in bytes.
const lengthSize = 4

// A queue is a list of bodies in buffers. The zero value is empty.
type queue struct {
	first, last *buffer.Buffer
	lent        []byte // what next returned last, which is in first; nil when it was released
}

// put appends a copy of a body.
func (q *queue) put(body []byte) {
	s := q.room(lengthSize + len(body))
	s.B = binary.LittleEndian.AppendUint32(s.B, uint32(len(body)))
	s.B = append(s.B, body...)
}

// encode appends the body of a frame and returns how long it is.
func (q *queue) encode(f *frame.Frame) (int, error) {
	s := q.room(lengthSize + buffer.FrameSize(f))
	start := len(s.B)
	b, err := f.Append(append(s.B, 0, 0, 0, 0))
	if err != nil {
		return 0, err
	}
	size := len(b) - start - lengthSize
	binary.LittleEndian.PutUint32(b[start:], uint32(size))
	s.B = b
	return size, nil
}

// undo takes back the body of a size that was appended last.
func (q *queue) undo(size int) {
	q.last.B = q.last.B[:len(q.last.B)-size-lengthSize]
}

// room returns the last buffer, with room for so many bytes.
func (q *queue) room(need int) *buffer.Buffer {
	if q.last != nil && q.last.Room() >= need {
		return q.last
	}
	s := buffer.Get(need)
	if q.last == nil {
		q.first = s
	} else {
		q.last.Next = s
	}
	q.last = s
	return s
}

// next removes the first body and returns it. It stays valid until the next call.
func (q *queue) next() (body []byte, ok bool) {
	q.release()
	s := q.first
	if s == nil {
		return nil, false
	}
	start := s.Read + lengthSize
	s.Read = start + int(binary.LittleEndian.Uint32(s.B[s.Read:]))
	q.lent = s.B[start:s.Read:s.Read]
	return q.lent, true
}

// release gives up the body that next returned last.
func (q *queue) release() {
	buffer.Poison(q.lent)
	q.lent = nil
	for q.first != nil && q.first.Read == len(q.first.B) {
		q.pop()
	}
}

// pop gives back the first buffer.
func (q *queue) pop() {
	s := q.first
	q.first = s.Next
	if q.first == nil {
		q.last = nil
	}
	s.Free()
}

// drop empties the queue. The body that next returned last stays valid for ever, if it was not
// released.
func (q *queue) drop() {
	if q.lent != nil {
		q.first, q.lent = q.first.Next, nil // left to the garbage collector
	}
	for q.first != nil {
		q.pop()
	}
	q.last = nil
}

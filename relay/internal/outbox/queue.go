package outbox

import "github.com/cosim-go/cosim/relay/internal/buffer"

// A queue holds bytes in buffers, in order. The zero value is empty.
type queue struct{ first, last *buffer.Buffer }

// tail returns how many bytes are in the last buffer.
func (q *queue) tail() int {
	if q.last == nil {
		return 0
	}
	return len(q.last.B)
}

// begin returns the last buffer's bytes, to which a frame of some size is to be appended, and
// how many they are. A buffer of less than flushSize grows, so that what is short goes out in
// one piece.
func (q *queue) begin(size int) (dst []byte, begin int) {
	switch {
	case q.last == nil:
		q.last = buffer.Get(size)
		q.first = q.last
	case q.last.Room() >= size:
	case len(q.last.B) < flushSize && q.first == q.last:
		q.last = q.last.Grown(size)
		q.first = q.last
	default:
		b := buffer.Get(max(size, flushSize))
		q.last.Next = b
		q.last = b
	}
	return q.last.B, len(q.last.B)
}

// commit takes in what begin returned with a frame appended to it.
func (q *queue) commit(wire []byte) { q.last.B = wire }

// take removes the first buffer that holds something and returns it, nil when there is none.
// It is the caller's to free.
func (q *queue) take() *buffer.Buffer {
	for q.first != q.last && len(q.first.B) == 0 {
		q.pop().Free()
	}
	if q.first == nil || len(q.first.B) == 0 {
		return nil
	}
	return q.pop()
}

func (q *queue) pop() *buffer.Buffer {
	b := q.first
	q.first, b.Next = b.Next, nil
	if q.first == nil {
		q.last = nil
	}
	return b
}

// drop forgets everything.
func (q *queue) drop() {
	for q.first != nil {
		q.pop().Free()
	}
}

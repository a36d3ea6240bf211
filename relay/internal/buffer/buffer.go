// Package buffer lends byte slices that are used for a short time by many, so that an idle
// connection or request holds none.
package buffer

import "sync"

// Sizes of what is lent, in bytes: some small frames; more of them; the longest usual CHUNK with
// its head; the longest usual frame. What is longer is allocated as it comes.
var sizes = [...]int{4 << 10, 32 << 10, 260 << 10, 1 << 20, 4 << 20}

var pools [len(sizes)]sync.Pool

// A Buffer is a slice on loan. It is not safe for concurrent use.
type Buffer struct {
	B    []byte  // empty at first; may be exchanged for a longer one
	Read int     // for the borrower: how much of B is done with; 0 at first
	Next *Buffer // for the borrower: to make lists; nil at first

	class int
}

// Get returns an empty buffer with room for at least so many bytes. What is not freed is
// garbage: no harm is done.
func Get(need int) *Buffer {
	for class, size := range sizes {
		if need > size {
			continue
		}
		if b, ok := pools[class].Get().(*Buffer); ok {
			return b
		}
		return &Buffer{B: make([]byte, 0, size), class: class}
	}
	return &Buffer{B: make([]byte, 0, need), class: len(sizes)}
}

// Free takes a buffer back, to which nobody refers any more. A nil buffer is none.
//
// With the build tag framepoison its bytes are overwritten: see package frame.
func (b *Buffer) Free() {
	if b == nil {
		return
	}
	Poison(b.B)
	if b.class < len(sizes) && cap(b.B) == sizes[b.class] {
		b.B, b.Read, b.Next = b.B[:0], 0, nil
		pools[b.class].Put(b)
	}
}

// Room returns how many bytes fit in.
func (b *Buffer) Room() int { return cap(b.B) - len(b.B) }

// Grown returns a buffer with what b holds and room for at least so many bytes more, which is b
// when b has it. Otherwise b is free.
func (b *Buffer) Grown(room int) *Buffer {
	if b.Room() >= room {
		return b
	}
	larger := Get(len(b.B) + room)
	larger.B = append(larger.B, b.B...)
	larger.Read, larger.Next = b.Read, b.Next
	b.Free()
	return larger
}

// Package buffer lends byte slices that are used for a short time by many, so that an idle
// connection or request holds none.
package buffer

import (
	"sync"

	"github.com/cosim-go/cosim/relay/frame"
)

// Classes of what is lent, by size in bytes: some small frames; more of them; the longest usual
// CHUNK with its head; the longest usual frame. What is longer is allocated as it comes.
//
// Of each a number is kept for ever, 6 MiB in all, so that usual traffic allocates nothing; what is
// free beyond that is kept until the next garbage collections.
var classes = [...]class{
	{size: 4 << 10, keep: 256},
	{size: 32 << 10, keep: 32},
	{size: 260 << 10, keep: 16},
	{size: 1 << 20},
	{size: 4 << 20},
}

// A class keeps free buffers of one size.
type class struct {
	size, keep int

	mu   sync.Mutex
	kept []*Buffer
	pool sync.Pool
}

func (c *class) take() *Buffer {
	c.mu.Lock()
	if last := len(c.kept) - 1; last >= 0 {
		b := c.kept[last]
		c.kept = c.kept[:last]
		c.mu.Unlock()
		return b
	}
	c.mu.Unlock()
	b, _ := c.pool.Get().(*Buffer)
	return b
}

func (c *class) give(b *Buffer) {
	c.mu.Lock()
	if len(c.kept) < c.keep {
		c.kept = append(c.kept, b)
		b = nil
	}
	c.mu.Unlock()
	if b != nil {
		c.pool.Put(b)
	}
}

// A Buffer is a slice on loan. It is not safe for concurrent use.
type Buffer struct {
	B    []byte  // empty at first; may be exchanged for a longer one
	Read int     // for the borrower: how much of B is done with; 0 at first
	Next *Buffer // for the borrower: to make lists; nil at first

	class *class // nil for one that is too long to be kept
}

// Get returns an empty buffer with room for at least so many bytes. What is not freed is
// garbage: no harm is done.
func Get(need int) *Buffer {
	for i := range classes {
		c := &classes[i]
		if need > c.size {
			continue
		}
		if b := c.take(); b != nil {
			return b
		}
		return &Buffer{B: make([]byte, 0, c.size), class: c}
	}
	return &Buffer{B: make([]byte, 0, need)}
}

// Free takes a buffer back, to which nobody refers any more. A nil buffer is none.
//
// With the build tag framepoison its bytes are overwritten: see package frame.
func (b *Buffer) Free() {
	if b == nil {
		return
	}
	Poison(b.B)
	if b.class != nil && cap(b.B) == b.class.size {
		b.B, b.Read, b.Next = b.B[:0], 0, nil
		b.class.give(b)
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

// FrameSize returns the room that a frame's body takes at most when it is encoded, in bytes, unless its
// meta becomes longer in canonical form.
func FrameSize(f *frame.Frame) int {
	const fixed = 256 // heads, keys, numbers and ids
	return fixed + len(f.ContentType) + len(f.Meta.Raw()) + len(f.Payload) +
		len(f.Cap) + len(f.StreamID) + len(f.MediaURN)
}

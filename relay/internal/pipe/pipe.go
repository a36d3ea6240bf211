// Package pipe makes connections in memory that hold some bytes, for ends that live in one
// program.
//
// What is written waits in the connection until the far end reads it. Each direction ends by
// itself. Everybody waits on a condition, so that a bubble of testing/synctest knows who is
// blocked.
package pipe

import "io"

// defaultSize is how many bytes a direction holds unless New is told otherwise: a CHUNK of the
// usual longest kind with its head, nearly.
const defaultSize = 256 << 10

// A Conn is one end of a connection. It is safe for concurrent use; what one Write writes
// stands together.
type Conn struct{ in, out *half }

// New returns the two ends of a connection that holds size bytes in each direction, 256 KiB
// for 0 and less. It takes memory for them as they are needed. Whoever made it closes both ends.
func New(size int) (a, b *Conn) {
	if size <= 0 {
		size = defaultSize
	}
	there, back := newHalf(size), newHalf(size)
	return &Conn{in: back, out: there}, &Conn{in: there, out: back}
}

// Read reads what the far end wrote, and waits for it. After the far end closed it reads what
// is left and then returns [io.EOF]. On an end that is closed it fails with [io.ErrClosedPipe].
func (c *Conn) Read(p []byte) (int, error) { return c.in.read(p) }

// Write returns when the last byte is in the connection. It fails with [io.ErrClosedPipe], and
// says how much went in, once either end is closed.
func (c *Conn) Write(p []byte) (int, error) { return c.out.write(p) }

// TryWrite writes what there is room for and never waits for more: less than all of p with no
// error means that the connection is full, or that another Write is waiting.
func (c *Conn) TryWrite(p []byte) (int, error) { return c.out.tryWrite(p) }

// CloseWrite tells the far end that nothing more comes. Reading goes on.
func (c *Conn) CloseWrite() error {
	c.out.end(&c.out.ended)
	return nil
}

// Close ends both directions and wakes whoever waits at either end. What was written before
// can still be read at the far end.
func (c *Conn) Close() error {
	c.out.end(&c.out.ended)
	c.in.end(&c.in.abandoned)
	return nil
}

var _ io.ReadWriteCloser = (*Conn)(nil)

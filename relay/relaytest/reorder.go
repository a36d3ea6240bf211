package relaytest

import (
	"bytes"
	"sync"
	"time"
)

// Reorder returns a connection over c that puts the frames that are written to it out of
// order. It must be given whole frames in the end, in pieces of any size. Closing it closes c;
// what is held back then is lost, with CloseWrite it is written first.
func Reorder(c Conn, d Disorder) Conn {
	return &reorderConn{Conn: c, shuffler: newShuffler(d), turn: make(chan struct{}, 1)}
}

type reorderConn struct {
	Conn
	turn     chan struct{} // holds something while somebody uses what follows
	shuffler *shuffler
	partial  []byte // the beginning of a frame
	timer    *time.Timer
	err      error
	closing  sync.Once
}

func (c *reorderConn) lock()   { c.turn <- struct{}{} }
func (c *reorderConn) unlock() { <-c.turn }

func (c *reorderConn) Write(p []byte) (int, error) {
	c.lock()
	defer c.unlock()
	c.partial = append(c.partial, p...)
	for c.err == nil {
		wire, rest, ok := firstFrame(c.partial)
		if !ok {
			break
		}
		c.partial = rest
		c.err = c.shuffler.add(bytes.Clone(wire), c.emit)
	}
	if c.err != nil {
		return 0, c.err
	}
	c.linger()
	return len(p), nil
}

func (c *reorderConn) emit(wire []byte) error {
	_, err := c.Conn.Write(wire)
	return err
}

// linger begins the time after which what is held goes out.
func (c *reorderConn) linger() {
	switch {
	case c.shuffler.Linger == 0 || len(c.shuffler.held) == 0:
	case c.timer == nil:
		c.timer = time.AfterFunc(c.shuffler.Linger, func() {
			c.lock()
			defer c.unlock()
			c.drain()
		})
	default:
		c.timer.Reset(c.shuffler.Linger)
	}
}

func (c *reorderConn) drain() {
	if c.err == nil {
		c.err = c.shuffler.drain(c.emit)
	}
}

// CloseWrite writes what is held, and the beginning of a frame that never got its end.
func (c *reorderConn) CloseWrite() error {
	c.lock()
	defer c.unlock()
	c.drain()
	if c.err == nil && len(c.partial) > 0 {
		c.err = c.emit(c.partial)
		c.partial = nil
	}
	return c.Conn.CloseWrite()
}

// Close wakes a writer that has the turn before it takes the turn itself.
func (c *reorderConn) Close() error {
	err := c.Conn.Close()
	c.closing.Do(func() {
		c.lock()
		defer c.unlock()
		if c.timer != nil {
			c.timer.Stop()
		}
	})
	return err
}

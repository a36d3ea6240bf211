package relaytest

import (
	"io"
	"sync"
	"time"
)

// Faults are what goes wrong with a connection. The zero value is a good one.
type Faults struct {
	// ReadSize is how many bytes a Read brings at most. 0 is no limit.
	ReadSize int

	// WriteSize is how many bytes of a Write go on in one piece. 0 is all of them.
	WriteSize int

	// Delay, when not nil, says how long to wait before a Read or a piece of a Write. Both
	// directions call it, at the same time if it comes to that. Close ends the wait.
	Delay func() time.Duration

	ReadCut  *Cut // ends what is read
	WriteCut *Cut // ends what is written
}

// A Cut ends one direction of a connection after a number of bytes.
//
// A reader gets that many bytes and then the error, for good. A writer gets that many bytes
// through, after which the far end reads [io.EOF]; a Write that has more of them fails.
type Cut struct {
	After int64
	Err   error // nil is io.EOF for a reader and io.ErrClosedPipe for a writer
}

// Inject returns a connection over c with faults. Closing it closes c. No Write begins before
// another one has ended.
func Inject(c Conn, f Faults) Conn {
	if f.ReadCut != nil {
		f.ReadCut = &Cut{f.ReadCut.After, errorOr(f.ReadCut.Err, io.EOF)}
	}
	if f.WriteCut != nil {
		f.WriteCut = &Cut{f.WriteCut.After, errorOr(f.WriteCut.Err, io.ErrClosedPipe)}
	}
	return &faultyConn{conn: c, faults: f, closed: make(chan struct{}), turn: make(chan struct{}, 1)}
}

func errorOr(err, instead error) error {
	if err == nil {
		return instead
	}
	return err
}

type faultyConn struct {
	conn   Conn
	faults Faults
	read   int64 // bytes so far, for the one reader
	closed chan struct{}
	once   sync.Once

	turn    chan struct{} // holds something while somebody writes
	written int64
}

func (c *faultyConn) Read(p []byte) (int, error) {
	c.wait()
	p = atMost(p, c.faults.ReadSize)
	if cut := c.faults.ReadCut; cut != nil {
		if c.read >= cut.After {
			return 0, cut.Err
		}
		p = p[:min(int64(len(p)), cut.After-c.read)]
	}
	n, err := c.conn.Read(p)
	c.read += int64(n)
	return n, err
}

func (c *faultyConn) Write(p []byte) (n int, err error) {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	for n < len(p) {
		more, err := c.writePiece(atMost(p[n:], c.faults.WriteSize))
		n += more
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (c *faultyConn) writePiece(p []byte) (int, error) {
	c.wait()
	whole := len(p)
	cut := c.faults.WriteCut
	if cut != nil {
		p = p[:max(0, min(int64(whole), cut.After-c.written))]
	}
	n, err := c.conn.Write(p)
	c.written += int64(n)
	if cut != nil && c.written >= cut.After {
		c.conn.CloseWrite()
	}
	if err == nil && n < whole {
		err = cut.Err
	}
	return n, err
}

// wait lasts as long as the delay, but not beyond a Close.
func (c *faultyConn) wait() {
	if c.faults.Delay == nil {
		return
	}
	timer := time.NewTimer(c.faults.Delay())
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.closed:
	}
}

func (c *faultyConn) CloseWrite() error { return c.conn.CloseWrite() }

func (c *faultyConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.conn.Close()
}

func atMost(p []byte, size int) []byte {
	if size > 0 && size < len(p) {
		return p[:size]
	}
	return p
}

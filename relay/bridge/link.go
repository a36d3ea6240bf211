package bridge

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cosim-go/cosim/relay/frame"
)

// Join makes one link of a reader and a writer, such as the two pipes of a process. Its
// CloseWrite closes w, its Close closes both; either may be called again.
func Join(r io.ReadCloser, w io.WriteCloser) io.ReadWriteCloser {
	return &joined{Reader: r, Writer: w, side: w, closeRead: sync.OnceValue(r.Close), closeWrite: sync.OnceValue(w.Close)}
}

type joined struct {
	io.Reader
	io.Writer
	side                  io.WriteCloser
	closeRead, closeWrite func() error
}

// WriteSide returns what Write writes to, for who writes there without waiting.
func (j *joined) WriteSide() io.WriteCloser { return j.side }

func (j *joined) CloseWrite() error { return j.closeWrite() }
func (j *joined) Close() error      { return errors.Join(j.closeWrite(), j.closeRead()) }

// halfCloser is a link whose directions end one by one.
type halfCloser interface{ CloseWrite() error }

// An end is one side of a bridge. It reads from a link.
type end struct {
	link   io.ReadWriteCloser
	out    *frame.Writer
	closed atomic.Bool // as a whole, by endWriting
}

// errOver is the error of reading from a link that was closed as a whole because the direction
// towards it had ended.
var errOver = errors.New("the link has no end of one direction alone")

// Read reads from the link.
func (e *end) Read(p []byte) (int, error) {
	n, err := e.link.Read(p)
	if err != nil && e.closed.Load() {
		err = errOver
	}
	return n, err
}

// endWriting tells the far end of the link that nothing more comes. A link that cannot tell is
// closed, or the far end would wait for ever.
func (e *end) endWriting() {
	if half, ok := e.link.(halfCloser); ok && half.CloseWrite() == nil {
		return
	}
	e.closed.Store(true)
	e.link.Close()
}

package bridge

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/cosim-go/cosim/relay/frame"
)

// Join makes one link of a reader and a writer, such as the two pipes of a process. Its
// CloseWrite closes w, its Close closes both.
func Join(r io.ReadCloser, w io.WriteCloser) io.ReadWriteCloser {
	return &joined{r, w}
}

type joined struct {
	io.ReadCloser
	w io.WriteCloser
}

func (j *joined) Write(p []byte) (int, error) { return j.w.Write(p) }
func (j *joined) CloseWrite() error           { return j.w.Close() }
func (j *joined) Close() error                { return errors.Join(j.w.Close(), j.ReadCloser.Close()) }

// An end is one side of a bridge. It reads from a link.
type end struct {
	link   io.ReadWriteCloser
	out    *frame.Writer
	closed atomic.Bool // by endWriting
}

// Read reads from the link. What was closed because one direction ended has come to its end
// in the other one too.
func (e *end) Read(p []byte) (int, error) {
	n, err := e.link.Read(p)
	if err != nil && e.closed.Load() {
		err = io.EOF
	}
	return n, err
}

// endWriting tells the far end of the link that nothing more comes. How it takes that is of no
// use: a far end that is gone knows.
func (e *end) endWriting() {
	if half, ok := e.link.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
		return
	}
	e.closed.Store(true)
	e.link.Close()
}

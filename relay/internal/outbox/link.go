package outbox

import (
	"io"
	"os"
)

// pieceSize is how much is given at once to a link that does not tell how much it took so far,
// in bytes.
const pieceSize = 32 << 10

// A link is where an outbox writes. At most one goroutine is in try or write at a time.
type link interface {
	// try writes what the link takes at once, and says how much that was. It never waits.
	try(p []byte) (n int, err error)

	// write writes all of p and waits for the link.
	write(p []byte) error

	// close closes the link. It ends a write that waits, unless stubborn says that it cannot.
	close() error
	stubborn() bool
}

// TryWriter is a link that can be written to without waiting: TryWrite writes as much of p as
// the link takes at once.
type tryWriter interface {
	TryWrite(p []byte) (n int, err error)
}

// WriteSider is a link that passes on what is written to it, such as one made of two pipes:
// WriteSide returns where that goes.
type writeSider interface{ WriteSide() io.WriteCloser }

// newLink returns w as a link. It calls wrote in write, with the bytes that the link took since
// the last call.
func newLink(w io.WriteCloser, wrote func(n int)) link {
	side := w
	for s, ok := side.(writeSider); ok; s, ok = side.(writeSider) {
		side = s.WriteSide()
	}
	if l := newRawLink(side, w, wrote); l != nil {
		return l
	}
	try, _ := side.(tryWriter)
	_, file := side.(*os.File)
	return &plainLink{w, try, file, wrote}
}

// A plainLink writes as any writer does.
type plainLink struct {
	w     io.WriteCloser
	quick tryWriter // nil when there is no writing without waiting
	file  bool      // one that the runtime does not poll
	wrote func(n int)
}

func (l *plainLink) try(p []byte) (int, error) {
	if l.quick == nil {
		return 0, nil
	}
	n, err := l.quick.TryWrite(p)
	if n < 0 || n > len(p) {
		return 0, ioError(errWriteCount)
	}
	return n, ioError(err)
}

func (l *plainLink) write(p []byte) error {
	for len(p) > 0 {
		piece := p[:min(pieceSize, len(p))]
		n, err := l.w.Write(piece)
		if n < 0 || n > len(piece) {
			return ioError(errWriteCount)
		}
		if n > 0 {
			l.wrote(n)
		}
		if err == nil && n < len(piece) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return ioError(err)
		}
		p = p[n:]
	}
	return nil
}

func (l *plainLink) close() error   { return l.w.Close() }
func (l *plainLink) stubborn() bool { return l.file }

//go:build unix

package outbox

import (
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// A rawLink writes to a descriptor that does not block: a socket, or a pipe that the runtime
// polls.
type rawLink struct {
	w     io.Closer
	raw   syscall.RawConn
	once  func(fd uintptr) bool // l.attempt and l.attemptAll as values, which are made once
	whole func(fd uintptr) bool
	wrote func(n int)

	p   []byte // what is left to write
	err error
}

// newRawLink returns w as a link, which writes to side, or nil when that may block. Types that
// wrap a socket have a say in what is written, so only the types of the library count.
func newRawLink(side, w io.WriteCloser, wrote func(n int)) link {
	var conn interface {
		syscall.Conn
		SetWriteDeadline(time.Time) error
	}
	switch side := side.(type) {
	case *net.UnixConn:
		conn = side
	case *net.TCPConn:
		conn = side
	case *os.File:
		conn = side
	default:
		return nil
	}
	// A file that is not polled has no deadlines.
	if conn.SetWriteDeadline(time.Time{}) != nil {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	l := &rawLink{w: w, raw: raw, wrote: wrote}
	l.once, l.whole = l.attempt, l.attemptAll
	return l
}

func (l *rawLink) try(p []byte) (int, error) {
	err := l.do(p, l.once)
	n := len(p) - len(l.p)
	l.p = nil
	return n, err
}

func (l *rawLink) write(p []byte) error {
	err := l.do(p, l.whole)
	l.p = nil
	return err
}

func (l *rawLink) do(p []byte, f func(fd uintptr) bool) error {
	l.p, l.err = p, nil
	err := l.raw.Write(f)
	if l.err != nil {
		err = os.NewSyscallError("write", l.err)
	}
	return ioError(err)
}

// attempt writes until the descriptor takes no more. It always says that it is done.
func (l *rawLink) attempt(fd uintptr) bool {
	for len(l.p) > 0 {
		n, err := syscall.Write(int(fd), l.p)
		switch {
		case n > 0:
			l.p = l.p[n:]
		case err == syscall.EAGAIN:
			return true
		case err == nil:
			l.err = syscall.EIO
			return true
		case err != syscall.EINTR:
			l.err = err
			return true
		}
	}
	return true
}

// attemptAll writes and says that it is done when everything is written, or nothing more can be.
func (l *rawLink) attemptAll(fd uintptr) bool {
	for len(l.p) > 0 && l.err == nil {
		before := len(l.p)
		l.attempt(fd)
		n := before - len(l.p)
		if n > 0 {
			l.wrote(n)
		}
		if n == 0 {
			break
		}
	}
	return len(l.p) == 0 || l.err != nil
}

func (l *rawLink) close() error { return l.w.Close() }

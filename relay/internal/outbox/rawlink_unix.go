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
	once  func(fd uintptr) bool // l.attempt and l.persist as values, which are made once
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
	l.once, l.whole = l.attempt, l.persist
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
		err = l.err
	}
	return ioError(err)
}

// attempt writes once: a descriptor that takes a part of it takes no more now.
func (l *rawLink) attempt(fd uintptr) bool {
	l.step(fd)
	return true
}

// persist writes all. It returns false to be called again when the descriptor takes more.
func (l *rawLink) persist(fd uintptr) bool {
	for len(l.p) > 0 {
		n := l.step(fd)
		if n == 0 {
			return l.err != nil
		}
		l.wrote(n)
	}
	return true
}

// step writes once and returns how much that was: 0 when the descriptor takes nothing, or with
// l.err.
func (l *rawLink) step(fd uintptr) int {
	for {
		n, err := syscall.Write(int(fd), l.p)
		switch {
		case n > 0:
			l.p = l.p[n:]
			return n
		case err == syscall.EINTR:
			continue
		case err == nil:
			l.err = io.ErrShortWrite
		case err != syscall.EAGAIN:
			l.err = os.NewSyscallError("write", err)
		}
		return 0
	}
}

func (l *rawLink) close() error   { return l.w.Close() }
func (l *rawLink) stubborn() bool { return false }

// Package pair makes the connections that every contender uses: both ends of a Unix stream socket pair, with
// the buffers that the system gives them.
package pair

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// Buffer is the size of every reader's and writer's buffer, in bytes.
const Buffer = 64 << 10

// New returns two connected ends.
func New() (a, b net.Conn, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	a, errA := conn(fds[0])
	b, errB := conn(fds[1])
	return a, b, errors.Join(errA, errB)
}

// conn makes a connection of a descriptor, which it closes.
func conn(fd int) (net.Conn, error) {
	file := os.NewFile(uintptr(fd), "socketpair")
	defer file.Close()
	return net.FileConn(file)
}

// A Listener hands out one connection that there is already, for servers that want to accept theirs.
type Listener struct {
	conn   chan net.Conn
	closed chan struct{}
	addr   net.Addr
}

// Listen returns a listener that accepts c and then nothing more until it is closed.
func Listen(c net.Conn) *Listener {
	l := &Listener{make(chan net.Conn, 1), make(chan struct{}), c.LocalAddr()}
	l.conn <- c
	return l
}

// Accept returns the connection, once.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. It is called once.
func (l *Listener) Close() error {
	close(l.closed)
	return nil
}

// Addr is the connection's own address.
func (l *Listener) Addr() net.Addr { return l.addr }

//go:build unix

package relaytest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

func systemTransports() []Transport {
	return []Transport{{Name: "socket", Open: SocketPair}, {Name: "files", Open: FilePipes}}
}

// SocketPair returns a pair of Unix stream sockets, as socketpair(2) makes them. Both ends are
// a [*net.UnixConn].
func SocketPair() (client, server Conn, err error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("making a socket pair: %w", err)
	}
	a, err := socketConn(fds[0])
	if err != nil {
		syscall.Close(fds[1])
		return nil, nil, err
	}
	b, err := socketConn(fds[1])
	if err != nil {
		a.Close()
		return nil, nil, err
	}
	return a, b, nil
}

// socketConn takes over a descriptor.
func socketConn(fd int) (*net.UnixConn, error) {
	file := os.NewFile(uintptr(fd), "socketpair")
	defer file.Close()
	c, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("making a socket pair: %w", err)
	}
	return c.(*net.UnixConn), nil
}

// FilePipes returns two ends that are joined by a pair of pipe(2) pipes, one a direction, as a
// process is with its standard input and output.
func FilePipes() (client, server Conn, err error) {
	serverIn, clientOut, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("making a pipe: %w", err)
	}
	clientIn, serverOut, err := os.Pipe()
	if err != nil {
		serverIn.Close()
		clientOut.Close()
		return nil, nil, fmt.Errorf("making a pipe: %w", err)
	}
	return &fileConn{clientIn, clientOut}, &fileConn{serverIn, serverOut}, nil
}

type fileConn struct {
	in  *os.File
	out *os.File
}

func (c *fileConn) Read(p []byte) (int, error)  { return c.in.Read(p) }
func (c *fileConn) Write(p []byte) (int, error) { return c.out.Write(p) }
func (c *fileConn) CloseWrite() error           { return c.out.Close() }
func (c *fileConn) WriteSide() io.WriteCloser   { return c.out }

func (c *fileConn) Close() error {
	if err := c.out.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		c.in.Close()
		return err
	}
	return c.in.Close()
}

func socketPair() (client, server Conn, err error) { return SocketPair() }

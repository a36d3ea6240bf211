package relaytest

import "io"

// A Conn is one end of a connection in which each direction ends by itself.
//
// After CloseWrite the far end reads what was written and then [io.EOF]; reading goes on.
// Close ends both directions and wakes whoever waits in Read or Write. Whoever makes a
// connection closes both of its ends. One goroutine may read while others write or close.
type Conn interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// A Transport is a way to make connections.
type Transport struct {
	Name   string // such as socket
	Memory bool   // it works inside of a synctest bubble
	Open   func() (client, server Conn, err error)
}

// Transports returns the transports that this package knows, in a fixed order: pipe, buffered
// and, on Unix, socket and files.
func Transports() []Transport {
	return append([]Transport{
		{Name: "pipe", Memory: true, Open: func() (client, server Conn, err error) {
			client, server = Pipe()
			return client, server, nil
		}},
		{Name: "buffered", Memory: true, Open: func() (client, server Conn, err error) {
			client, server = BufferedPipe(64 << 10)
			return client, server, nil
		}},
	}, systemTransports()...)
}

//go:build !unix

package relaytest

import "errors"

func systemTransports() []Transport { return nil }

// socketPair fails: there are no pairs of sockets here, nor are there [SocketPair] and [FilePipes].
func socketPair() (client, server Conn, err error) {
	return nil, nil, errors.New("this system has no pairs of sockets")
}

// Package peer carries frames with what a user could take in the relay's place. Each peer gets the frame's
// bytes as an opaque message: none of them encodes, decodes or checks a frame.
package peer

import (
	"errors"
	"io"
	"net"

	"github.com/hashicorp/yamux"

	"github.com/cosim-go/cosim/relay/bench/internal/carry"
	"github.com/cosim-go/cosim/relay/bench/internal/load"
	"github.com/cosim-go/cosim/relay/bench/internal/pair"
)

// YamuxLink carries bodies over a yamux stream, behind their length and through the same buffers as the floor.
func YamuxLink(item load.Item) (carry.Link, error) {
	s, err := yamuxStream()
	if err != nil {
		return nil, err
	}
	return s.Link(item), nil
}

// YamuxEcho is a round trip over a yamux stream.
func YamuxEcho(tape load.Tape) (carry.Echo, error) {
	s, err := yamuxStream()
	if err != nil {
		return nil, err
	}
	return s.Echo(tape), nil
}

func yamuxStream() (carry.Stream, error) {
	a, b, err := pair.New()
	if err != nil {
		return carry.Stream{}, err
	}
	near, far, err := yamuxEnds(a, b)
	if err != nil {
		return carry.Stream{}, errors.Join(err, a.Close(), b.Close())
	}
	// A session closes the connection below it, and all its streams.
	return carry.Stream{Near: near, Far: far, Close: carry.CloseOnce(near.Session(), far.Session())}, nil
}

func yamuxEnds(a, b net.Conn) (near, far *yamux.Stream, err error) {
	config := yamux.DefaultConfig()
	config.EnableKeepAlive = false
	config.LogOutput = io.Discard
	client, err := yamux.Client(a, config)
	if err != nil {
		return nil, nil, err
	}
	server, err := yamux.Server(b, config)
	if err != nil {
		return nil, nil, err
	}
	if near, err = client.OpenStream(); err != nil {
		return nil, nil, err
	}
	far, err = server.AcceptStream()
	return near, far, err
}

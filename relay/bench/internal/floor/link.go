// Package floor moves bytes with as little as the machine needs for it: no frames, no checks, no order.
package floor

import (
	"net"

	"github.com/cosim-go/cosim/relay/bench/internal/carry"
	"github.com/cosim-go/cosim/relay/bench/internal/load"
	"github.com/cosim-go/cosim/relay/bench/internal/pair"
)

func stream() (s carry.Stream, near net.Conn, err error) {
	near, far, err := pair.New()
	if err != nil {
		return s, nil, err
	}
	return carry.Stream{Near: near, Far: far, Close: carry.CloseOnce(near, far)}, near, nil
}

// Bufio carries bodies behind their length from a bufio.Writer to a bufio.Reader.
func Bufio(item load.Item) (carry.Link, error) {
	s, _, err := stream()
	if err != nil {
		return nil, err
	}
	return s.Link(item), nil
}

// Writev does the same without copying what it writes: 64 frames, length and body apart, in one system call.
func Writev(item load.Item) (carry.Link, error) {
	s, near, err := stream()
	if err != nil {
		return nil, err
	}
	return &vectorLink{s.Link(item), near, item, make(net.Buffers, 0, 2*vector)}, nil
}

const vector = 64 // frames of a writev

type vectorLink struct {
	carry.Link
	conn    net.Conn
	item    load.Item
	buffers net.Buffers
}

func (l *vectorLink) Send(n int) error {
	body := l.item.Body()
	length := l.item.Wire[:len(l.item.Wire)-len(body)]
	for n > 0 {
		frames := min(n, vector)
		l.buffers = l.buffers[:0]
		for range frames {
			l.buffers = append(l.buffers, length, body)
		}
		rest := l.buffers // WriteTo eats what it is called on
		if _, err := rest.WriteTo(l.conn); err != nil {
			return err
		}
		n -= frames
	}
	return nil
}

// Echo is a round trip over one socket pair.
func Echo(tape load.Tape) (carry.Echo, error) {
	s, _, err := stream()
	if err != nil {
		return nil, err
	}
	return s.Echo(tape), nil
}

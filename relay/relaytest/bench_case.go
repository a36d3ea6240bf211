package relaytest

import (
	"fmt"
	"io"
)

// A benchCase is a path of frames and the floor that it is compared with.
type benchCase struct {
	name    string // such as hop/payload=1KiB; never changes
	floor   string // what the floor is
	metric  string // the name of the ratio in a benchmark
	payload int    // bytes of each frame
	latency bool   // the time of one trip counts, not that of all
	open    func() (frames, floor *path, err error)
}

// benchSizes are the payloads of frames.
var benchSizes = []int{64, 1 << 10, 64 << 10, 256 << 10}

const smallest = 64

func sizeName(size int) string {
	if size >= 1<<10 {
		return fmt.Sprintf("payload=%dKiB", size>>10)
	}
	return fmt.Sprintf("payload=%dB", size)
}

// codecCases need no connection.
func codecCases() []benchCase {
	var cases []benchCase
	for _, c := range []struct {
		name string
		path func(size int) *path
	}{{"encode", encode}, {"decode", decode}, {"check", check}} {
		for _, size := range benchSizes {
			cases = append(cases, benchCase{
				name: c.name + "/" + sizeName(size), floor: "memcpy", metric: "x-memcpy", payload: size,
				open: func() (frames, floor *path, err error) { return c.path(size), copyBytes(size), nil },
			})
		}
	}
	return cases
}

// linkCases are what frames cost over one connection.
func linkCases[C io.ReadWriteCloser](open func() (client, server C, err error)) []benchCase {
	var cases []benchCase
	for _, size := range benchSizes {
		cases = append(cases, benchCase{
			name: "hop/" + sizeName(size), floor: "raw copy", metric: "x-raw", payload: size,
			open: twoPaths(open, func(client, server C) *path { return hop(client, server, size) },
				func(client, server C) *path { return rawHop(client, server, size) }),
		})
	}
	return append(cases, benchCase{
		name: "roundtrip/" + sizeName(smallest), floor: "raw", metric: "x-raw", payload: smallest, latency: true,
		open: twoPaths(open, func(client, server C) *path { return roundTrip(client, server, smallest, closer(client, server)) },
			func(client, server C) *path { return rawRoundTrip(client, server, smallest) }),
	})
}

// twoPaths opens a connection for each of both.
func twoPaths[C io.ReadWriteCloser](open func() (client, server C, err error), a, b func(client, server C) *path) func() (x, y *path, err error) {
	return func() (x, y *path, err error) {
		client, server, err := open()
		if err != nil {
			return nil, nil, err
		}
		x = a(client, server)
		if client, server, err = open(); err != nil {
			x.close()
			return nil, nil, err
		}
		return x, b(client, server), nil
	}
}

// bridgeCases are what frames cost on their way through a bridge between two connections.
func bridgeCases[C io.ReadWriteCloser](open func() (client, server C, err error), bridge func(local, socket C) error) []benchCase {
	plain := func(local, socket C) error { return copyBoth(local, socket) }
	var cases []benchCase
	for _, size := range benchSizes {
		cases = append(cases, benchCase{
			name: "bridge/" + sizeName(size), floor: "read/write copy", metric: "x-copy", payload: size,
			open: twoBridges(open, bridge, plain, func(client, server io.ReadWriteCloser, close func()) *path {
				return through(client, server, size, close)
			}),
		})
	}
	return append(cases, benchCase{
		name: "bridge-roundtrip/" + sizeName(smallest), floor: "read/write copy", metric: "x-copy", payload: smallest, latency: true,
		open: twoBridges(open, bridge, plain, func(client, server io.ReadWriteCloser, close func()) *path {
			return roundTrip(client, server, smallest, close)
		}),
	})
}

// A pathOver makes a path between two ends.
type pathOver func(client, server io.ReadWriteCloser, close func()) *path

// twoBridges makes the same path over two bridges.
func twoBridges[C io.ReadWriteCloser](open func() (client, server C, err error), a, b func(local, socket C) error,
	over pathOver) func() (x, y *path, err error) {
	return func() (x, y *path, err error) {
		if x, err = bridged(open, a, over); err != nil {
			return nil, nil, err
		}
		if y, err = bridged(open, b, over); err != nil {
			x.close()
			return nil, nil, err
		}
		return x, y, nil
	}
}

// bridged opens two connections, sets a bridge between them and makes a path over it. Closing
// that waits for the bridge.
func bridged[C io.ReadWriteCloser](open func() (client, server C, err error), bridge func(local, socket C) error,
	over pathOver) (*path, error) {
	client, local, err := open()
	if err != nil {
		return nil, err
	}
	socket, server, err := open()
	if err != nil {
		closer(client, local)()
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		bridge(local, socket)
	}()
	return over(client, server, func() {
		closer(client, server)()
		<-done
		closer(local, socket)()
	}), nil
}

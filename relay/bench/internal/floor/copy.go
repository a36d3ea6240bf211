package floor

import (
	"errors"
	"io"
	"net"
	"sync"

	"github.com/cosim-go/cosim/relay/bench/internal/carry"
)

// Copy is a bridge that reads into a buffer of the given size and writes what it got, both ways.
func Copy(buffer int) carry.Bridge {
	return func(local, socket net.Conn) error {
		var there, back error
		var both sync.WaitGroup
		both.Go(func() { there = pass(local, socket, make([]byte, buffer)) })
		both.Go(func() { back = pass(socket, local, make([]byte, buffer)) })
		both.Wait()
		return errors.Join(there, back)
	}
}

// pass copies until the source ends, and ends the destination then.
func pass(to, from net.Conn, buffer []byte) error {
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return to.(interface{ CloseWrite() error }).CloseWrite()
		}
		if err != nil {
			return err
		}
	}
}

// Memcpy copies a body n times.
func Memcpy(body []byte) func(n int) error {
	to := make([]byte, len(body))
	return func(n int) error {
		for range n {
			copy(to, body)
		}
		return nil
	}
}

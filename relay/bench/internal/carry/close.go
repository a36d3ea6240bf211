package carry

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
)

// unlessClosed is nil for the errors that one finds on a connection whose end was wanted.
func unlessClosed(err error) error {
	for _, end := range []error{io.EOF, io.ErrClosedPipe, net.ErrClosed, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, end) {
			return nil
		}
	}
	return err
}

// CloseOnce closes all of them, in order, the first time it is called.
func CloseOnce(closers ...io.Closer) func() error {
	return sync.OnceValue(func() error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c.Close())
		}
		return errors.Join(errs...)
	})
}

package host

import (
	"errors"
	"io"
	"sync"
)

// An attached is the link of a cartridge that ran before, at the other end of a connection.
type attached struct {
	conn io.ReadWriteCloser
	once sync.Once // for what follows
	err  error     // that ended reading; nil for io.EOF and Kill
	done chan struct{}
}

func newAttached(conn io.ReadWriteCloser) *attached {
	return &attached{conn: conn, done: make(chan struct{})}
}

func (l *attached) Read(p []byte) (int, error) {
	n, err := l.conn.Read(p)
	if err != nil {
		l.end(err)
	}
	return n, err
}

func (l *attached) end(err error) {
	l.once.Do(func() {
		if !errors.Is(err, io.EOF) {
			l.err = err
		}
		close(l.done)
	})
}

// Close ends the cartridge's input. A connection that has no end of one direction ends as a whole.
func (l *attached) Close() error {
	if half, ok := l.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		return nil
	}
	return l.conn.Close()
}

func (l *attached) Kill() error {
	l.end(nil)
	return l.conn.Close()
}

func (l *attached) Write(p []byte) (int, error) { return l.conn.Write(p) }
func (l *attached) WriteSide() io.WriteCloser   { return l.conn }
func (l *attached) Done() <-chan struct{}       { return l.done }
func (l *attached) Exit() Exit                  { return Exit{ExitState: ExitState{Status: -1}, Err: l.err} }
func (l *attached) PID() int                    { return 0 }

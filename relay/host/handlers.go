package host

import (
	"context"
	"io"

	"github.com/cosim-go/cosim/relay/internal/pipe"
)

// A Server is what answers frames on a connection, such as a *cartridge.Cartridge. Serve ends when the connection
// does, or ctx; it owns conn.
type Server interface {
	Serve(ctx context.Context, conn io.ReadWriteCloser) error
}

// Handlers returns the provider of a cartridge that s is, in this process. Each start is a call of Serve, over a
// connection in memory. Killing it ends the context of that call and the connection; a Serve that does not return then is
// left behind.
func Handlers(s Server) Provider { return handlers{s} }

type handlers struct{ server Server }

func (h handlers) Open(ctx context.Context) (Link, error) {
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	near, far := pipe.New(0)
	l := &served{near: near, far: far, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		defer cancel()
		defer far.Close()
		l.err = h.server.Serve(serving, far)
	}()
	return l, nil
}

// A served is the link of handlers in this process.
type served struct {
	near, far *pipe.Conn
	cancel    context.CancelFunc
	done      chan struct{}
	err       error // of Serve
}

func (l *served) Read(p []byte) (int, error)  { return l.near.Read(p) }
func (l *served) Write(p []byte) (int, error) { return l.near.Write(p) }
func (l *served) Close() error                { return l.near.CloseWrite() }
func (l *served) WriteSide() io.WriteCloser   { return l.near }
func (l *served) Done() <-chan struct{}       { return l.done }
func (l *served) Exit() Exit                  { return Exit{ExitState: ExitState{Status: -1}, Err: l.err} }
func (l *served) PID() int                    { return 0 }

func (l *served) Kill() error {
	l.cancel()
	return l.far.Close()
}

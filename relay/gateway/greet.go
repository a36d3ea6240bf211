package gateway

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/cosim-go/cosim/relay/frame"
)

// A greeting is a connection of which the first frame is there.
type greeting struct {
	conn  net.Conn
	in    *frame.Reader
	first *frame.Frame // valid until in reads on
	seen  recorder
}

// A recorder keeps a copy of what is read through it while it is on.
type recorder struct {
	in   io.Reader
	on   bool
	read []byte
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if r.on {
		r.read = append(r.read, p[:n]...)
	}
	return n, err
}

// greet waits for the first frame of a connection, which says what is at its other end. It fails with io.EOF when there
// is none.
func greet(ctx context.Context, conn net.Conn, limit time.Duration) (*greeting, error) {
	g := &greeting{conn: conn, seen: recorder{in: conn, on: true}}
	g.in = frame.NewReader(&g.seen, nil)
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	late := time.AfterFunc(limit, func() { conn.Close() })
	first, err := g.in.Next()
	inTime, goesOn := late.Stop(), stop()
	switch {
	case !inTime:
		return nil, frame.Errorf(frame.ErrHandshake, "nothing was said within %s", limit)
	case !goesOn:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	}
	if first.Type != frame.TypeRelayNotify && first.Type != frame.TypeHello {
		return nil, frame.Errorf(frame.ErrProtocol, "a %s frame comes first: a host begins with relay_notify, a caller with hello", first.Type)
	}
	g.first = first
	return g, nil
}

// again returns the connection as it was before its first frame was read.
func (g *greeting) again() io.ReadWriteCloser {
	r := &replayed{g.conn, g.seen.read}
	g.in, g.first, g.seen = nil, nil, recorder{}
	return r
}

// A replayed is a connection of which something was read before.
type replayed struct {
	net.Conn
	read []byte
}

func (r *replayed) Read(p []byte) (int, error) {
	if len(r.read) == 0 {
		return r.Conn.Read(p)
	}
	n := copy(p, r.read)
	if r.read = r.read[n:]; len(r.read) == 0 {
		r.read = nil
	}
	return n, nil
}

// WriteSide returns where writes go: what is read first has nothing to do with them.
func (r *replayed) WriteSide() io.WriteCloser { return r.Conn }

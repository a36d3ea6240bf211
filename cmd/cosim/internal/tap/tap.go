package tap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/cosim-go/cosim/cmd/cosim/internal/socket"
)

// A Tap stands between those who connect to one socket and the one who listens on another.
type Tap struct {
	socket  *socket.Listener
	connect string
	report  func(Event) error
	warn    func(string)

	mu  sync.Mutex // one report at a time
	err error      // of the first report that failed
	end context.CancelFunc
}

// New returns a tap that listens on a socket, whose file it makes. The file must not be there.
// Each connection will be joined with one to connect. Serve has to be called.
//
// Each event goes to report, one at a time; the connection waits meanwhile, and an error of
// report ends the tap. A path that no socket can be at is a [socket.RefusedError]. A connection that cannot be joined goes to warn, and so does that there is
// no descriptor left for the next one, which then waits until there is.
func New(listenOn, connect string, report func(Event) error, warn func(string)) (*Tap, error) {
	if err := socket.Check("connect to", connect); err != nil {
		return nil, err
	}
	s, err := socket.Listen(listenOn)
	if err != nil {
		return nil, err
	}
	return &Tap{socket: s, connect: connect, report: report, warn: warn}, nil
}

// Serve passes bytes until ctx ends, which ends all connections. It returns when all that it
// began has ended, with the error of a report that failed, or of the listener. The socket's
// file is removed.
func (t *Tap) Serve(ctx context.Context) error {
	ctx, t.end = context.WithCancel(ctx)
	defer t.end()
	context.AfterFunc(ctx, func() { t.socket.Close() })
	err := t.accept(ctx)
	t.socket.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	return errors.Join(t.err, err)
}

// acceptPause is how long a tap waits before it tries again to accept a connection for which
// there was no descriptor.
const acceptPause = 100 * time.Millisecond

// accept joins connections until the listener is closed, and then waits for them.
func (t *Tap) accept(ctx context.Context) error {
	var all sync.WaitGroup
	defer all.Wait()
	joined := 0
	short := false // of descriptors, and that was said
	for {
		conn, err := t.socket.AcceptUnix()
		switch {
		case ctx.Err() != nil && err == nil:
			conn.Close()
			return nil
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
			if !short {
				t.warn(fmt.Sprintf("connections to %q have to wait: %v", t.socket.Path, socket.Reason(err)))
			}
			short = true
			pause(ctx, acceptPause)
			continue
		case err != nil:
			t.end()
			return fmt.Errorf("listening on %q: %w", t.socket.Path, socket.Reason(err))
		}
		short = false
		joined++
		n := joined
		all.Go(func() { t.join(ctx, n, conn) })
	}
}

// pause lasts that long, but not beyond the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// join joins an accepted connection with a new one and carries bytes until both directions
// have ended.
func (t *Tap) join(ctx context.Context, n int, near *net.UnixConn) {
	defer near.Close()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", t.connect)
	if err != nil {
		if ctx.Err() == nil {
			t.warn(fmt.Sprintf("connection %d, accepted on %q: cannot connect to %q: %v", n, t.socket.Path, t.connect, socket.Reason(err)))
		}
		return
	}
	far := conn.(*net.UnixConn)
	defer far.Close()
	stop := context.AfterFunc(ctx, func() {
		near.Close()
		far.Close()
	})
	defer stop()
	if t.tell(Event{Connection: n, Kind: Opened}) != nil {
		return
	}
	var both sync.WaitGroup
	there, back := false, false
	both.Go(func() { there = t.pump(ctx, n, Forward, near, far) })
	both.Go(func() { back = t.pump(ctx, n, Back, far, near) })
	both.Wait()
	if there && back {
		t.tell(Event{Connection: n, Kind: Closed})
	}
}

// bufferSize is how much is passed on in one piece.
const bufferSize = 64 << 10

// pump passes on one direction until it ends, and returns whether it ended by itself.
func (t *Tap) pump(ctx context.Context, n int, d Direction, from, to *net.UnixConn) bool {
	w := &watcher{connection: n, direction: d, report: t.tell}
	buf := make([]byte, bufferSize)
	var err error
	for err == nil {
		var size int
		size, err = from.Read(buf)
		if size == 0 {
			continue
		}
		if w.see(buf[:size]) != nil {
			return false
		}
		if _, failed := to.Write(buf[:size]); failed != nil {
			err = failed
		}
	}
	if err == io.EOF {
		err = nil
	} else {
		err = socket.Reason(err)
	}
	if ctx.Err() != nil {
		return false
	}
	w.end(err)
	// What nobody takes any more must not be sent, and what has ended has to end beyond. A
	// writer that waits for room hears of the first when there is some.
	from.CloseRead()
	io.Copy(io.Discard, from)
	to.CloseWrite()
	return true
}

// tell reports an event. The first report that fails ends the tap.
func (t *Tap) tell(e Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		if t.err = t.report(e); t.err != nil {
			t.end()
		}
	}
	return t.err
}

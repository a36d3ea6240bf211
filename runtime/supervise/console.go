package supervise

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// Escape is the byte that leaves a console: Ctrl-].
const Escape = 0x1d

// A Console is a vhost's serial line. Its zero value is of no use; a plan.Console
// converts to it.
type Console struct {
	Socket string // where QEMU serves the line, to one client at a time
	Log    string // where QEMU writes what the guest sends
}

// errEscape ends a console on request.
var errEscape = errors.New("left with Ctrl-]")

// Attach joins a terminal to the line, in both directions, until the user types Ctrl-]
// (and it returns nil) or the context ends (and it returns why). It waits for the socket
// to come, and joins it again when the connection ends. The end of in leaves the output
// going. What is typed while there is no connection is dropped. The terminal's mode is
// the caller's business.
//
// A read from in may be waiting when Attach returns. Where in is an *os.File, it is ended;
// elsewhere it ends with the next byte, which is lost.
func (c Console) Attach(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	line := &line{}
	input, err := newInput(in)
	if err != nil {
		return err
	}
	defer input.close()
	go func() {
		if err := line.typed(input); err != nil {
			cancel(err)
		}
		close(input.done)
	}()
	for ctx.Err() == nil {
		if err := c.join(ctx, line, out); err != nil {
			return err
		}
		pause(ctx, consolePause)
	}
	if err := context.Cause(ctx); !errors.Is(err, errEscape) {
		return err
	}
	return nil
}

// join connects once, and copies what the guest sends until the connection ends. Its
// error is that of writing to out.
func (c Console) join(ctx context.Context, l *line, out io.Writer) error {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", c.Socket)
	if err != nil {
		return nil
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	l.set(conn)
	defer l.set(nil)
	buf := make([]byte, 4096)
	for {
		n, err := conn.Read(buf)
		if _, err := out.Write(buf[:n]); err != nil {
			return err
		}
		if err != nil {
			return nil
		}
	}
}

// Follow copies what the guest sends to out, from the first byte on, until the context
// ends, and then the rest. It needs no connection, so it leaves the line to others.
func (c Console) Follow(ctx context.Context, out io.Writer) error {
	return followFile(ctx, c.Log, consolePause, out)
}

// A line carries what is typed to the connection that there is.
type line struct {
	mu   sync.Mutex
	conn net.Conn // nil while there is none
}

func (l *line) set(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = conn
}

func (l *line) send(p []byte) {
	l.mu.Lock()
	conn := l.conn
	l.mu.Unlock()
	if conn != nil {
		conn.Write(p) // its reader sees it break
	}
}

// typed sends what is typed, until the escape, for which it returns errEscape, or the
// end of the input.
func (l *line) typed(in io.Reader) error {
	buf := make([]byte, 1024)
	for {
		n, err := in.Read(buf)
		before, _, left := bytes.Cut(buf[:n], []byte{Escape})
		if len(before) > 0 {
			l.send(before)
		}
		if left {
			return errEscape
		}
		if err != nil {
			return nil
		}
	}
}

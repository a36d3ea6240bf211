package supervise

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// A guest is the other side of a serial line.
type guest struct {
	t        *testing.T
	listener net.Listener
	console  Console
}

func newGuest(t *testing.T) *guest {
	t.Helper()
	dir, err := os.MkdirTemp("", "cosim")
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{t: t, console: Console{Socket: filepath.Join(dir, "serial.sock"), Log: filepath.Join(dir, "serial.log")}}
	if g.listener, err = net.Listen("unix", g.console.Socket); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		g.listener.Close()
		os.RemoveAll(dir)
	})
	return g
}

func (g *guest) accept() (net.Conn, *bufio.Reader) {
	g.t.Helper()
	conn, err := g.listener.Accept()
	if err != nil {
		g.t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

func (g *guest) line(r *bufio.Reader) string {
	g.t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		g.t.Fatal(err)
	}
	return line
}

// attach starts a console; what is typed and shown goes through pipes. They are files, as a
// terminal is.
func (g *guest) attach(ctx context.Context) (keyboard *os.File, screen *bufio.Reader, left <-chan error) {
	g.t.Helper()
	in, keyboard, err := os.Pipe()
	if err != nil {
		g.t.Fatal(err)
	}
	shown, out, err := os.Pipe()
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { in.Close(); keyboard.Close(); shown.Close(); out.Close() })
	done := make(chan error, 1)
	go func() { done <- g.console.Attach(ctx, in, out) }()
	return keyboard, bufio.NewReader(shown), done
}

func TestConsoleJoinsBothDirections(t *testing.T) {
	g := newGuest(t)
	keyboard, screen, left := g.attach(context.Background())
	conn, typed := g.accept()
	io.WriteString(conn, "login:\n")
	if got := g.line(screen); got != "login:\n" {
		t.Errorf("shown %q", got)
	}
	io.WriteString(keyboard, "root\x03\n")
	if got := g.line(typed); got != "root\x03\n" {
		t.Errorf("typed %q, want Ctrl-C to reach the guest", got)
	}
	io.WriteString(keyboard, "last\n\x1dlost")
	if err := <-left; err != nil {
		t.Errorf("Attach() = %v, want nil after Ctrl-]", err)
	}
	rest, err := io.ReadAll(typed)
	if string(rest) != "last\n" || err != nil {
		t.Errorf("typed %q, %v, want what came before Ctrl-]", rest, err)
	}
}

// The guest's end closes and opens again, as that of a QEMU does that was restarted.
func TestConsoleJoinsAgain(t *testing.T) {
	g := newGuest(t)
	keyboard, screen, left := g.attach(context.Background())
	conn, _ := g.accept()
	io.WriteString(conn, "first\n")
	conn.Close()
	conn, typed := g.accept()
	io.WriteString(conn, "second\n")
	if got := g.line(screen) + g.line(screen); got != "first\nsecond\n" {
		t.Errorf("shown %q", got)
	}
	io.WriteString(keyboard, "hello\n")
	if got := g.line(typed); got != "hello\n" {
		t.Errorf("typed %q", got)
	}
	keyboard.WriteString("\x1d")
	<-left
	// Who leaves may come back.
	conn.Close()
	keyboard, _, left = g.attach(context.Background())
	g.accept()
	keyboard.WriteString("\x1d")
	<-left
}

// The session's end ends the console, with or without a guest, though nobody types.
func TestContextEndsConsole(t *testing.T) {
	cause := errors.New("the session ended")
	for _, guestIsThere := range []bool{false, true} {
		g := newGuest(t)
		if !guestIsThere {
			g.listener.Close()
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		_, _, left := g.attach(ctx)
		if guestIsThere {
			g.accept()
		}
		cancel(cause)
		if err := <-left; !errors.Is(err, cause) {
			t.Errorf("Attach() = %v, want %v", err, cause)
		}
	}
}

// The end of the input, as of a script's, does not end the output.
func TestConsoleWithoutInput(t *testing.T) {
	g := newGuest(t)
	ctx, cancel := context.WithCancel(context.Background())
	keyboard, screen, left := g.attach(ctx)
	keyboard.Close()
	conn, _ := g.accept()
	io.WriteString(conn, "booting\n")
	if got := g.line(screen); got != "booting\n" {
		t.Errorf("shown %q", got)
	}
	select {
	case err := <-left:
		t.Errorf("Attach() = %v at the end of its input", err)
	default:
	}
	cancel()
	<-left
}

// Follow shows what came before it and what comes after, to the last byte.
func TestConsoleFollowsTheLog(t *testing.T) {
	g := newGuest(t)
	if err := os.WriteFile(g.console.Log, []byte("early\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shown, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer shown.Close()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- g.console.Follow(ctx, out)
		out.Close()
	}()
	screen := bufio.NewReader(shown)
	if got := g.line(screen); got != "early\n" {
		t.Errorf("shown %q", got)
	}
	log, err := os.OpenFile(g.console.Log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	log.WriteString("late\n")
	if got := g.line(screen); got != "late\n" {
		t.Errorf("shown %q", got)
	}
	log.WriteString("last")
	cancel()
	rest, err := io.ReadAll(screen)
	if string(rest) != "last" || err != nil || <-done != nil {
		t.Errorf("shown %q, %v, want what was written before the end", rest, err)
	}
}

package bridge_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// Requirements: C5, R1
func TestTheEndOfOneDirectionIsPassedOnWhileTheOtherGoesOn(t *testing.T) {
	bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
		first := wire(t, req(0), chunk(1, 100<<10))
		go func() {
			from.Write(first)
			from.CloseWrite()
		}()
		expect(t, to, first)
		expectEnd(t, to)
		for range 3 {
			back := wire(t, req(0), chunk(1, 50<<10), bodyEnd(2))
			write(t, to, back)
			expect(t, from, back)
		}
		to.CloseWrite()
		expectEnd(t, from)
		if err := s.wait(); err != nil {
			t.Errorf("Run = %v after both directions have ended", err)
		}
	})
}

// Requirement: S1
func TestOneDirectionGoesOnWhileTheOtherIsBlocked(t *testing.T) {
	bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
		first := wire(t, chunk(0, 3<<20)) // more than sockets hold
		expectAfter(t, to, first[:10], func() { from.Write(first) })
		for range 3 {
			back := wire(t, req(0), chunk(1, 50<<10), bodyEnd(2))
			go to.Write(back)
			expect(t, from, back)
		}
		expect(t, to, first[10:])
	})
}

// Requirement: C5
func TestClosingEitherSideAtRestEndsTheRelay(t *testing.T) {
	bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
		b := wire(t, req(0))
		write(t, from, b)
		expect(t, to, b)
		from.Close()
		expectEnd(t, to)
		to.Close() // as a host and a switch do when they see the end
		if err := s.wait(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// Requirement: C5
func TestClosingEitherSideUnderLoadEndsTheRelay(t *testing.T) {
	bothWays(t, func(t *testing.T, s *span, from, to relaytest.Conn) {
		load := wire(t, req(0), chunk(1, 2000), chunk(2, 80<<10), bodyEnd(3))
		var busy sync.WaitGroup
		for _, c := range []relaytest.Conn{from, to} {
			busy.Go(func() {
				for {
					if _, err := c.Write(load); err != nil {
						return
					}
				}
			})
		}
		busy.Go(func() {
			io.Copy(io.Discard, to)
			to.Close()
		})
		expect(t, from, load)
		from.Close()
		if err := s.wait(); err != nil && frame.KindOf(err) != frame.ErrIO && frame.KindOf(err) != frame.ErrUnexpectedEOF {
			t.Errorf("Run = %v of kind %q, want nil or an error of a stream", err, frame.KindOf(err))
		}
		busy.Wait()
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	cause := errors.New("the host stops")
	stages := []struct {
		name    string
		initial *frame.Notify
		reach   func(t *testing.T, s *span)
	}{
		{"before it begins", nil, nil},
		{"while the first notify waits", ptr(offer(strings.Repeat("x", 3<<20))), func(t *testing.T, s *span) {
			expect(t, s.remote, wire(t, notify(t, strings.Repeat("x", 3<<20)))[:10])
		}},
		{"at rest", ptr(offer("{}")), func(t *testing.T, s *span) { expect(t, s.remote, wire(t, notify(t, "{}"))) }},
		{"within a frame", nil, func(t *testing.T, s *span) {
			write(t, s.host, wire(t, req(0), chunk(1, 9))[:80])
			expect(t, s.remote, wire(t, req(0)))
		}},
		{"while a far end takes nothing", nil, func(t *testing.T, s *span) {
			b := wire(t, chunk(0, 3<<20))
			expectAfter(t, s.remote, b[:10], func() { s.host.Write(b) })
		}},
		{"when one direction has ended", nil, func(t *testing.T, s *span) {
			s.remote.CloseWrite()
			expectEnd(t, s.host)
		}},
		{"when the other direction has ended", nil, func(t *testing.T, s *span) {
			s.host.CloseWrite()
			expectEnd(t, s.remote)
		}},
	}
	for _, stage := range stages {
		t.Run(stage.name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if stage.reach == nil {
				cancel(cause)
			}
			local, host := socketPair(t)
			socket, remote := socketPair(t)
			s := &span{slave: bridge.NewSlave(local, nil), host: host, remote: remote, ended: make(chan struct{})}
			go func() {
				defer close(s.ended)
				s.err = s.slave.Run(ctx, socket, stage.initial)
			}()
			if stage.reach != nil {
				stage.reach(t, s)
				cancel(cause)
			}
			if err := s.wait(); err != cause {
				t.Errorf("Run = %v, want %v", err, cause)
			}
			io.Copy(io.Discard, host) // ends: the links are closed
			io.Copy(io.Discard, remote)
			s.closeAll()
		})
	}
}

// expectAfter does something on the side that waits for the reader.
func expectAfter(t *testing.T, c io.Reader, want []byte, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	t.Cleanup(func() { <-done })
	expect(t, c, want)
}

// A link that is closed while somebody reads says what it likes: that is the end all the same.
func TestRunEndsWithItsContextWhenLinksReportAnEnd(t *testing.T) {
	cause := errors.New("the host stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	local, socket := newQuiet(), newQuiet()
	ended := make(chan error)
	go func() { ended <- bridge.NewSlave(local, nil).Run(ctx, socket, nil) }()
	<-local.reading
	<-socket.reading
	cancel(cause)
	if err := <-ended; err != cause {
		t.Errorf("Run = %v, want %v", err, cause)
	}
}

// quiet is a link from which nothing comes, until it is closed: then the end.
type quiet struct {
	reading, closed chan struct{}
	once            sync.Once
}

func newQuiet() *quiet { return &quiet{reading: make(chan struct{}), closed: make(chan struct{})} }

func (q *quiet) Read([]byte) (int, error) {
	close(q.reading)
	<-q.closed
	return 0, io.EOF
}
func (q *quiet) Write(p []byte) (int, error) { return len(p), nil }
func (q *quiet) Close() error {
	q.once.Do(func() { close(q.closed) })
	return nil
}

func TestRunIsForOnce(t *testing.T) {
	s := start(t, nil, ptr(offer("{}")))
	expect(t, s.remote, wire(t, notify(t, "{}")))
	socket, remote := socketPair(t)
	defer remote.Close()
	if err := s.slave.Run(t.Context(), socket, nil); err == nil {
		t.Error("a second Run = nil, want an error")
	}
	expectEnd(t, remote)
	for _, w := range ways { // the first one is not disturbed
		write(t, w.from(s), wire(t, req(0)))
		expect(t, w.to(s), wire(t, req(0)))
	}
}

// A second Run fails at once, also while the first one waits for a socket that takes nothing.
func TestASecondRunWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, local := relaytest.Pipe()
		socket, _ := relaytest.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		slave := bridge.NewSlave(local, nil)
		ended := make(chan error)
		go func() { ended <- slave.Run(ctx, socket, ptr(offer("{}"))) }()
		synctest.Wait()
		second, _ := relaytest.Pipe()
		if err := slave.Run(t.Context(), second, nil); err == nil || err.Error() != "a slave runs once" {
			t.Errorf("a second Run = %v", err)
		}
		cancel()
		if err := <-ended; err != context.Canceled {
			t.Errorf("Run = %v, want %v", err, context.Canceled)
		}
	})
}

// Requirement: C5. What comes of closing is not reported in place of why it was closed.
func TestTheFirstErrorWins(t *testing.T) {
	for i := range 50 {
		s := start(t, nil, nil)
		torn := wire(t, chunk(1, 9))
		write(t, s.remote, torn[:20]) // would end within a frame
		write(t, s.host, wire(t, frame.NewPolicy(nil)))
		err := s.wait()
		if frame.KindOf(err) != frame.ErrProtocol || !strings.Contains(err.Error(), "from the host to the socket: ") {
			t.Fatalf("Run %d = %v of kind %q, want the policy's error", i, err, frame.KindOf(err))
		}
		s.closeAll()
	}
}

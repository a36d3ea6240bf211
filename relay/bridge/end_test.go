package bridge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

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

// withLinks starts a slave whose own ends of the links are made by wrap.
func withLinks(t *testing.T, local, socket func(relaytest.Conn) io.ReadWriteCloser) *span {
	t.Helper()
	relaytest.NoLeaks(t)
	a, host := socketPair(t)
	b, remote := socketPair(t)
	s := &span{slave: bridge.NewSlave(local(a), nil), host: host, remote: remote, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.err = s.slave.Run(t.Context(), socket(b), nil)
	}()
	t.Cleanup(func() { s.closeAll() })
	return s
}

// broken is a link with a CloseWrite that does not work.
type broken struct{ relaytest.Conn }

func (broken) CloseWrite() error { return errors.ErrUnsupported }

// Requirement: C5
func TestLinksWithoutHalvesEndAsAWhole(t *testing.T) {
	links := []struct {
		name string
		wrap func(relaytest.Conn) io.ReadWriteCloser
	}{
		{"no CloseWrite", func(c relaytest.Conn) io.ReadWriteCloser { return whole{c} }},
		{"a CloseWrite that fails", func(c relaytest.Conn) io.ReadWriteCloser { return broken{c} }},
	}
	for _, link := range links {
		for _, w := range ways {
			t.Run(link.name+" "+w.name, func(t *testing.T) {
				s := withLinks(t, link.wrap, link.wrap)
				from, to := w.from(s), w.to(s)
				b := wire(t, req(0), chunk(1, 10), bodyEnd(2))
				write(t, from, b)
				expect(t, to, b)
				write(t, to, b[:9]) // the beginning of a frame, which is cut by nobody's fault
				from.CloseWrite()
				expectNothing(t, to)
				expectEnd(t, from)
				if err := s.wait(); err != nil {
					t.Errorf("Run = %v", err)
				}
			})
		}
	}
}

// Requirement: C5. One side has halves, the other does not.
func TestAnEndPassesFromALinkWithHalvesToOneWithout(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			asIs := func(c relaytest.Conn) io.ReadWriteCloser { return c }
			asWhole := func(c relaytest.Conn) io.ReadWriteCloser { return whole{c} }
			s := withLinks(t, asWhole, asIs)
			w.from(s).CloseWrite()
			expectEnd(t, w.to(s))
			w.to(s).Close()
			expectEnd(t, w.from(s))
			if err := s.wait(); err != nil {
				t.Errorf("Run = %v", err)
			}
		})
	}
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

func TestSlaveCountsAndSaysWhatItDrops(t *testing.T) {
	var log bytes.Buffer
	s := start(t, &bridge.SlaveOptions{
		Name: "gpu-a", Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, ptr(offer("{}")))
	expect(t, s.remote, wire(t, notify(t, "{}")))
	state := frame.NewRelayState([]byte("a"))
	fromSocket := wire(t, req(0), chunk(2, 10), state, notify(t, "x"), chunk(1, 40<<10), state, stateWithoutPayload(), chunk(5, 1))
	write(t, s.remote, fromSocket)
	expect(t, s.host, wire(t, req(0), chunk(1, 40<<10), chunk(2, 10)))
	// The end comes before the frame that is held in front of it: that one is lost.
	write(t, s.host, wire(t, req(0), chunk(3, 1), state, bodyEnd(1), notify(t, "y")))
	expect(t, s.remote, wire(t, req(0), bodyEnd(1), notify(t, "y")))
	s.remote.CloseWrite()
	s.host.CloseWrite()
	if err := s.wait(); err != nil {
		t.Fatal(err)
	}
	size := func(frames ...frame.Frame) uint64 { return uint64(len(wire(t, frames...))) }
	want := bridge.Stats{
		ToLocal:  bridge.Counters{Frames: 3, Bytes: size(req(0), chunk(1, 40<<10), chunk(2, 10)), Kept: 2, Dropped: 2, Held: 1},
		ToSocket: bridge.Counters{Frames: 3, Bytes: size(req(0), bodyEnd(1), notify(t, "y")), Dropped: 1, Lost: 1},
	}
	if got := s.slave.Stats(); got != want {
		t.Errorf("Stats = %+v, want %+v", got, want)
	}
	for _, line := range []string{
		`slave=gpu-a type=relay_notify why="only a host may announce"`,
		`slave=gpu-a type=relay_state why="only the switch may send one"`,
		`slave=gpu-a type=relay_state why="no payload: the state stays"`,
		`msg="lost frames that were held" slave=gpu-a frames=1`,
	} {
		if strings.Count(log.String(), line) != 1 {
			t.Errorf("the log does not say once %q:\n%s", line, log.String())
		}
	}
}

// What was to be written and was not does not count as passed on.
func TestFramesThatAnErrorHoldsBackAreNotCounted(t *testing.T) {
	s := start(t, nil, nil)
	write(t, s.host, wire(t, req(0), frame.NewRelayState(nil), chunk(2, 1), frame.NewPolicy(nil)))
	s.wait()
	got, _ := io.ReadAll(s.remote)
	if n := s.slave.Stats().ToSocket; n.Bytes != uint64(len(got)) || n.Dropped != 1 || n.Held != 1 {
		t.Errorf("Stats = %+v, and %d bytes arrived, want one frame dropped and one held", n, len(got))
	}
}

func TestStatsAreThereWhileTheSlaveRuns(t *testing.T) {
	s := start(t, nil, nil)
	for i := range 100 {
		write(t, s.host, wire(t, chunk(uint64(i), 10)))
		expect(t, s.remote, wire(t, chunk(uint64(i), 10)))
		// Counters are published before what they count is flushed.
		if got := s.slave.Stats().ToSocket.Frames; got != uint64(i+1) {
			t.Errorf("Frames = %d after %d have arrived", got, i+1)
		}
	}
}

func TestJoinMakesALinkOfTwoPipes(t *testing.T) {
	relaytest.NoLeaks(t)
	hostIn, toHost := io.Pipe()
	fromHost, hostOut := io.Pipe()
	socket, remote := socketPair(t)
	ended := make(chan error)
	go func() { ended <- bridge.NewSlave(bridge.Join(fromHost, toHost), nil).Run(t.Context(), socket, nil) }()
	b := wire(t, req(0))
	write(t, remote, b)
	expect(t, hostIn, b)
	remote.CloseWrite()
	expectEnd(t, hostIn)
	write(t, hostOut, b)
	expect(t, remote, b)
	hostOut.Close()
	expectEnd(t, remote)
	if err := <-ended; err != nil {
		t.Errorf("Run = %v", err)
	}
	remote.Close()
}

func TestAJoinedLinkMayBeClosedAgain(t *testing.T) {
	var r, w closer
	link := bridge.Join(&r, &w)
	half := link.(interface{ CloseWrite() error })
	for range 2 {
		if err := half.CloseWrite(); err != nil || w != 1 || r != 0 {
			t.Errorf("CloseWrite = %v, closed %d times for writing and %d for reading, want 1 and 0", err, w, r)
		}
	}
	for range 2 {
		if err := link.Close(); err != nil || w != 1 || r != 1 {
			t.Errorf("Close = %v, closed %d times for writing and %d for reading, want 1 and 1", err, w, r)
		}
	}
}

// closer counts how often it is closed; more than once is an error, as for a file.
type closer int

func (c *closer) Read([]byte) (int, error)    { return 0, io.EOF }
func (c *closer) Write(p []byte) (int, error) { return len(p), nil }
func (c *closer) Close() error {
	if *c++; *c > 1 {
		return fmt.Errorf("closed %d times", *c)
	}
	return nil
}

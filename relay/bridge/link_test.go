package bridge_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/relaytest"
)

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

package bridge_test

import (
	"bytes"
	"io"
	"testing"
	"testing/synctest"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// These tests run in memory and look when all is at rest. What they expect and does not come is
// a difference at once, and nothing waits for it.

// A farEnd keeps what arrives at it.
type farEnd struct {
	relaytest.Conn
	heard []byte
	over  bool // the end arrived
}

func listen(c relaytest.Conn) *farEnd {
	f := &farEnd{Conn: c}
	go func() {
		for buf := make([]byte, 4<<10); !f.over; {
			n, err := c.Read(buf)
			f.heard = append(f.heard, buf[:n]...)
			f.over = err != nil
		}
	}()
	return f
}

// hears fails unless that arrived since the last time, and no more.
func (f *farEnd) hears(t *testing.T, what string, over bool, want ...frame.Frame) {
	t.Helper()
	synctest.Wait()
	if !bytes.Equal(f.heard, wire(t, want...)) || f.over != over {
		t.Errorf("%s: %v arrived, and the end: %t; want %v, %t", what, describe(f.heard), f.over, describe(wire(t, want...)), over)
	}
	f.heard = nil
}

// A calm is a slave in a bubble.
type calm struct {
	slave        *bridge.Slave
	host, remote *farEnd
	ended        bool
	err          error
}

// calmly runs a test of a slave.
func calmly(t *testing.T, o *bridge.SlaveOptions, initial *frame.Notify, test func(t *testing.T, s *calm)) {
	t.Helper()
	asIs := func(c relaytest.Conn) io.ReadWriteCloser { return c }
	calmlyOver(t, asIs, o, initial, test)
}

// calmlyOver runs a test of a slave whose own ends of the links are made by wrap.
func calmlyOver(t *testing.T, wrap func(relaytest.Conn) io.ReadWriteCloser, o *bridge.SlaveOptions,
	initial *frame.Notify, test func(t *testing.T, s *calm)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		local, host := relaytest.BufferedPipe(64 << 10)
		socket, remote := relaytest.BufferedPipe(64 << 10)
		s := &calm{slave: bridge.NewSlave(wrap(local), o), host: listen(host), remote: listen(remote)}
		go func() {
			s.err = s.slave.Run(t.Context(), wrap(socket), initial)
			s.ended = true
		}()
		test(t, s)
		host.Close()
		remote.Close()
		synctest.Wait()
		local.Close()
		socket.Close()
	})
}

// ends fails unless Run has returned an error of that kind.
func (s *calm) ends(t *testing.T, want frame.Kind) {
	t.Helper()
	synctest.Wait()
	if !s.ended || frame.KindOf(s.err) != want || (s.err == nil) != (want == "") {
		t.Errorf("Run has returned: %t, %v of kind %q, want kind %q", s.ended, s.err, frame.KindOf(s.err), want)
	}
}

// Requirements: R1, R2, S1, S2, S3, N3, N4, PO1, ST2
func TestWhatPassesAndWhatDoesNot(t *testing.T) {
	policy := func(payload string) frame.Frame { return frame.NewPolicy([]byte(payload)) }
	state := frame.NewRelayState([]byte("a"))
	others := control(t)
	calmly(t, nil, nil, func(t *testing.T, s *calm) {
		// Neither direction waits for the other.
		write(t, s.remote, wire(t, chunk(2, 9), policy("1"), state, req(0), notify(t, "x"), policy("2"), chunk(1, 9)))
		write(t, s.host, wire(t, chunk(2, 9), notify(t, "1"), state, req(0), notify(t, "2"), chunk(1, 9)))
		s.host.hears(t, "to the host", false, policy("1"), req(0), policy("2"), chunk(1, 9), chunk(2, 9))
		s.remote.hears(t, "to the socket", false, notify(t, "1"), req(0), notify(t, "2"), chunk(1, 9), chunk(2, 9))
		write(t, s.remote, wire(t, others...))
		write(t, s.host, wire(t, others...))
		s.host.hears(t, "to the host", false, others...)
		s.remote.hears(t, "to the socket", false, others...)
		if payload, version := s.slave.State().Load(); string(payload) != "a" || version != 1 {
			t.Errorf("Load = %q, %d, want a, 1", payload, version)
		}
	})
}

// Requirements: PO2, S3
func TestPolicyFromTheHostEndsBothDirections(t *testing.T) {
	calmly(t, nil, nil, func(t *testing.T, s *calm) {
		write(t, s.host, wire(t, frame.NewPolicy(nil), req(0)))
		s.ends(t, frame.ErrProtocol)
		s.remote.hears(t, "to the socket", true)
		s.host.hears(t, "to the host", true)
	})
}

// Requirements: S2, S3
func TestAFrameThatCannotBeHeldEndsBothDirections(t *testing.T) {
	for _, toHost := range []bool{true, false} {
		calmly(t, nil, ptr(offer("{}")), func(t *testing.T, s *calm) {
			s.remote.hears(t, "to the socket", false, notify(t, "{}"))
			from := s.host
			if toHost {
				from = s.remote
			}
			write(t, from, wire(t, chunk(1, 1), chunk(2, 1), chunk(3, 1), chunk(4, 1)))
			synctest.Wait()
			if s.ended {
				t.Errorf("Run = %v at the limit that was announced", s.err)
			}
			write(t, from, wire(t, chunk(5, 1)))
			s.ends(t, frame.ErrProtocol)
			s.remote.hears(t, "to the socket", true)
			s.host.hears(t, "to the host", true)
		})
	}
}

// Requirement: C5
func TestEachDirectionEndsByItselfAndIsPassedOn(t *testing.T) {
	calmly(t, nil, nil, func(t *testing.T, s *calm) {
		s.remote.CloseWrite()
		s.host.hears(t, "to the host", true)
		write(t, s.host, wire(t, req(0)))
		s.remote.hears(t, "to the socket", false, req(0))
		if s.ended {
			t.Errorf("Run = %v after one direction has ended", s.err)
		}
		s.host.CloseWrite()
		s.remote.hears(t, "to the socket", true)
		s.ends(t, "")
	})
}

// Requirement: C5. Where the end of one direction cannot be told, the link is closed.
func TestAnEndThatCannotBeToldClosesTheLink(t *testing.T) {
	for _, wrap := range []func(relaytest.Conn) io.ReadWriteCloser{
		func(c relaytest.Conn) io.ReadWriteCloser { return whole{c} },
		func(c relaytest.Conn) io.ReadWriteCloser { return broken{c} },
	} {
		calmlyOver(t, wrap, nil, nil, func(t *testing.T, s *calm) {
			s.remote.CloseWrite()
			s.host.hears(t, "to the host", true)
			s.remote.hears(t, "to the socket", true)
			s.ends(t, "")
		})
	}
}

// Requirement: C5
func TestAnEndWithinAFrameEndsBothDirections(t *testing.T) {
	calmly(t, nil, nil, func(t *testing.T, s *calm) {
		write(t, s.remote, wire(t, req(0), chunk(1, 50))[:100])
		s.remote.CloseWrite()
		s.ends(t, frame.ErrUnexpectedEOF)
		s.remote.hears(t, "to the socket", true)
	})
}

// Requirement: R2
func TestWhatIsNoFrameEndsBothDirections(t *testing.T) {
	for _, toHost := range []bool{true, false} {
		calmly(t, nil, nil, func(t *testing.T, s *calm) {
			from := s.host
			if toHost {
				from = s.remote
			}
			write(t, from, append(prefixed([]byte{0xa0}), wire(t, req(0))...))
			s.ends(t, frame.ErrInvalidFrame)
			s.remote.hears(t, "to the socket", true)
			s.host.hears(t, "to the host", true)
		})
	}
}

// Requirement: S4
func TestSendNotifyReturnsWhenTheFrameIsOnTheStream(t *testing.T) {
	calmly(t, nil, ptr(offer("1")), func(t *testing.T, s *calm) {
		s.remote.hears(t, "to the socket", false, notify(t, "1"))
		if err := s.slave.SendNotify(offer("2")); err != nil {
			t.Errorf("SendNotify = %v", err)
		}
		s.remote.hears(t, "to the socket", false, notify(t, "2"))
		s.host.hears(t, "to the host", false)
	})
}

// Requirement: S5. A payload that was loaded is the host's, however many come.
func TestAStateThatWasLoadedNeverChanges(t *testing.T) {
	calmly(t, nil, nil, func(t *testing.T, s *calm) {
		var loaded [][]byte
		for _, payload := range []string{"first", "other"} {
			write(t, s.remote, wire(t, frame.NewRelayState([]byte(payload))))
			synctest.Wait()
			got, _ := s.slave.State().Load()
			loaded = append(loaded, got)
		}
		if string(loaded[0]) != "first" || string(loaded[1]) != "other" {
			t.Errorf("Load = %q, want first and other", loaded)
		}
	})
}

func TestALimitOfTheSlaveHoldsForWhatItReads(t *testing.T) {
	for _, toHost := range []bool{true, false} {
		calmly(t, &bridge.SlaveOptions{MaxFrame: 500}, nil, func(t *testing.T, s *calm) {
			from := s.host
			if toHost {
				from = s.remote
			}
			write(t, from, wire(t, chunk(0, 100)))
			synctest.Wait()
			if s.ended {
				t.Errorf("Run = %v below the limit", s.err)
			}
			write(t, from, wire(t, chunk(1, 500)))
			s.ends(t, frame.ErrFrameTooLarge)
		})
	}
}

package bridge_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// A span is a slave that runs, with the far ends of its links: the host's and the switch's.
type span struct {
	slave  *bridge.Slave
	host   relaytest.Conn
	remote relaytest.Conn
	ended  chan struct{} // closed when Run has returned
	err    error         // what it returned
}

// start runs a slave over socket pairs. All of it has to be gone at the end of the test.
func start(t testing.TB, o *bridge.SlaveOptions, initial *frame.Notify) *span {
	t.Helper()
	relaytest.NoLeaks(t)
	local, host := socketPair(t)
	socket, remote := socketPair(t)
	s := &span{slave: bridge.NewSlave(local, o), host: host, remote: remote, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.err = s.slave.Run(t.Context(), socket, initial)
	}()
	t.Cleanup(func() {
		host.Close()
		remote.Close()
		<-s.ended
	})
	return s
}

// wait returns what Run returned.
func (s *span) wait() error {
	<-s.ended
	return s.err
}

// closeAll closes both far ends and returns what Run returned.
func (s *span) closeAll() error {
	s.host.Close()
	s.remote.Close()
	return s.wait()
}

// A way is one of the directions of a slave.
type way struct {
	name     string
	from, to func(*span) relaytest.Conn
}

var ways = []way{
	{"to the host", (*span).remoteEnd, (*span).hostEnd},
	{"to the socket", (*span).hostEnd, (*span).remoteEnd},
}

func (s *span) hostEnd() relaytest.Conn   { return s.host }
func (s *span) remoteEnd() relaytest.Conn { return s.remote }

// bothWays runs a test of a slave that announces nothing, once for each direction.
func bothWays(t *testing.T, test func(t *testing.T, s *span, from, to relaytest.Conn)) {
	t.Helper()
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			s := start(t, nil, nil)
			test(t, s, w.from(s), w.to(s))
		})
	}
}

func socketPair(t testing.TB) (a, b relaytest.Conn) {
	t.Helper()
	a, b, err := relaytest.SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

func write(t testing.TB, c io.Writer, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

// expect reads as many bytes as are wanted and compares them.
func expect(t testing.TB, c io.Reader, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c, got); err != nil {
		t.Fatalf("read %v, then %v, want %v", describe(got[:n]), err, describe(want))
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("read %v, want %v", describe(got), describe(want))
	}
}

// expectEnd reads until the end, which has to come at once.
func expectEnd(t testing.TB, c io.Reader) {
	t.Helper()
	if rest, err := io.ReadAll(c); len(rest) > 0 || err != nil {
		t.Fatalf("read %v, %v, want the end", describe(rest), err)
	}
}

// expectNothing reads until the connection is over, in whatever way.
func expectNothing(t testing.TB, c io.Reader) {
	t.Helper()
	if rest, _ := io.ReadAll(c); len(rest) > 0 {
		t.Errorf("read %v, want nothing", describe(rest))
	}
}

// describe makes frames readable.
func describe(b []byte) (list []string) {
	r := frame.NewReader(bytes.NewReader(b), &frame.ReaderOptions{MaxFrame: frame.HardMaxFrame})
	for {
		f, err := r.Next()
		switch {
		case err == io.EOF:
			return list
		case err != nil:
			return append(list, err.Error())
		}
		list = append(list, describeFrame(f))
	}
}

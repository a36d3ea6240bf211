package route_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// A lockedText is what a logger wrote.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestLossesAreLogged(t *testing.T) {
	relaytest.NoLeaks(t)
	var out lockedText
	s := newSwitch(t, &route.Options{Logger: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	a := join(t, s, "host-a", identity, echoCap)
	_, req := open(t, s, a, "cap:echo")
	a.end(req)
	a.expect(frame.TypeEnd)
	a.end(req)
	unknown := frame.NewUUID()
	a.send(frame.NewBodyEnd(unknown))
	a.send(frame.NewRelayState(nil))
	a.announce(echoCap)
	a.settle()
	a.conn.Close()
	awaitHealth(t, s, "host-a", false)
	require.NoError(t, s.Close())
	for _, want := range []string{
		`level=DEBUG msg="a late frame" master=host-a type=end rid=` + req.ID.String(),
		`level=WARN msg="a frame of no request" master=host-a type=end rid=` + unknown.String(),
		`level=WARN msg="a frame that has no place here" master=host-a type=relay_state`,
		`level=ERROR msg="a relay_notify was refused" master=host-a`,
		`level=WARN msg="master died" master=host-a error="its socket was closed"`,
	} {
		require.Contains(t, out.String(), want)
	}
}

package interop

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/route"
)

const callLimit = time.Minute

// ourEngine is a route.Switch that two hosts connect to.
type ourEngine struct {
	listener net.Listener
	policy   *route.Policy
	hosts    int
	news     chan struct{} // has something when a host has announced anything
	*route.Switch
}

func listen(t *testing.T, r *rig, socket string, hosts int) *ourEngine {
	t.Helper()
	e := &ourEngine{hosts: hosts, news: make(chan struct{}, 1)}
	if r.policy != "" {
		e.policy = &route.Policy{Meta: networkMeta(t, r.policy)}
	}
	var err error
	e.listener, err = net.Listen("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { e.listener.Close() })
	return e
}

// caps makes the switch, which checks the identity of each host.
func (e *ourEngine) caps(t *testing.T) []string {
	t.Helper()
	require.NoError(t, e.listener.(*net.UnixListener).SetDeadline(time.Now().Add(callLimit)))
	sockets := make([]route.Socket, e.hosts)
	for i := range sockets {
		conn, err := e.listener.Accept()
		require.NoError(t, err)
		sockets[i] = route.Socket{ID: strconv.Itoa(i), Conn: conn}
	}
	var err error
	e.Switch, err = route.New(t.Context(), sockets, &route.Options{Policy: e.policy, OnNotify: e.notified})
	require.NoError(t, err)
	t.Cleanup(func() { e.Switch.Close() })
	return e.Capabilities()
}

func (e *ourEngine) notified(string, *manifest.Inventory) {
	select {
	case e.news <- struct{}{}:
	default:
	}
}

// until waits until the first record of what the hosts announce is as it has to be.
func (e *ourEngine) until(t *testing.T, what string, ready func(s *manifest.RuntimeStats) bool) {
	t.Helper()
	limit := time.After(callLimit)
	for !ready(e.Inventory()[0].Stats) {
		select {
		case <-e.news:
		case <-limit:
			require.FailNow(t, "no "+what, "%+v", e.Inventory()[0].Stats)
		}
	}
}

func (e *ourEngine) call(t *testing.T, v invocation) (a answer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), callLimit)
	defer cancel()
	arg := call.Bytes(v.Media, v.Body)
	if v.Cancel {
		reader, writer := io.Pipe()
		defer writer.Close()
		arg.Body = reader
	}
	c, err := call.Start(ctx, pieces{e.Switch, v.Piece}, call.Request{Cap: v.Cap}, arg)
	require.NoError(t, err)
	defer c.Close()
	for err == nil {
		err = a.next(ctx, c, v.Cancel)
	}
	a.end(t, c, err)
	return a
}

// next takes the next event.
func (a *answer) next(ctx context.Context, c *call.Call, cancel bool) error {
	event, err := c.Next(ctx)
	if err != nil {
		return err
	}
	switch event.Kind {
	case call.EventData:
		a.Body = append(a.Body, event.Data...)
		a.Chunks++
	case call.EventLog:
		a.Logs = append(a.Logs, event.Log.Message)
		if cancel {
			return c.Cancel(false, call.ErrCancelledByUser)
		}
	}
	return nil
}

func (a *answer) end(t *testing.T, c *call.Call, err error) {
	t.Helper()
	var failure *call.Error
	switch {
	case errors.Is(err, io.EOF):
		a.Terminal, a.ExitCode = "end", new(int)
	case errors.As(err, &failure):
		a.Terminal, a.Code, a.Class, a.Message = "err", failure.Code, failure.Attribution.String(), failure.Message
	default:
		require.NoError(t, err)
	}
}

func (e *ourEngine) close(t *testing.T) {
	t.Helper()
	statistics := e.Stats()
	require.Zero(t, statistics.Drops.Total, statistics.Drops)
	require.NoError(t, e.Switch.Close())
}

// pieces opens requests whose arguments go in pieces of a size.
type pieces struct {
	call.Opener
	size int
}

func (p pieces) Open(ctx context.Context, r call.Request) (call.Link, error) {
	link, err := p.Opener.Open(ctx, r)
	if err != nil || p.size == 0 {
		return link, err
	}
	return piecesLink{link, uint64(p.size)}, nil
}

type piecesLink struct {
	call.Link
	size uint64
}

func (l piecesLink) Limits() frame.Limits {
	limits := l.Link.Limits()
	limits.MaxChunk = l.size
	return limits
}

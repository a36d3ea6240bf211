package gateway

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosim-go/cosim/relay/frame"
)

// A pipeListener hands out connections in memory.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

func (l *pipeListener) Addr() net.Addr { return nil }

// A caller that reads nothing, though much waits for it, is ended, and its requests with it.
func TestCallerReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipeListener{make(chan net.Conn), make(chan struct{})}
		e := newStubEngine()
		var log logged
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- serve(ctx, l, e, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}) }()
		near, far := net.Pipe()
		l.conns <- far
		in, out := frame.NewReader(near, nil), frame.NewWriter(near, nil)
		hello, _ := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
		out.Write(&hello)
		out.Flush()
		if _, err := in.Next(); err != nil {
			t.Fatal(err)
		}
		const n = 70
		var links []*stubLink
		for range n {
			req := frame.NewReq(frame.NewUUID(), []byte("cap:x"))
			out.Write(&req)
			out.Flush()
			link := <-e.opened
			if _, err := in.Next(); err != nil { // it is admitted
				t.Fatal(err)
			}
			links = append(links, link)
		}
		began := time.Now()
		payload := make([]byte, 1<<20)
		for _, link := range links {
			link.respond(t, frame.NewChunk(link.request.ID, []byte("out"), 0, payload, 0))
		}
		for _, link := range links {
			<-link.closed
		}
		if d := time.Since(began); d < 10*time.Second || d > 25*time.Second {
			t.Errorf("the caller is ended after %s", d)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := log.String(); !strings.Contains(got, "it reads nothing") {
			t.Errorf("the gateway logged %q", got)
		}
		near.Close()
	})
}

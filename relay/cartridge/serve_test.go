package cartridge_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/pipe"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// At the end of the input handlers are cancelled, what they still say is written, and the connection is closed.
func TestEndOfInput(t *testing.T) {
	relaytest.NoLeaks(t)
	begun, cause := make(chan struct{}), make(chan error, 1)
	s := served(t, 32, func(ctx context.Context, r *cartridge.Request) error {
		close(begun)
		<-ctx.Done()
		cause <- context.Cause(ctx)
		r.Log("info", frame.AttributionInternal, "leaving")
		return nil
	})
	r := s.req(testCap)
	<-begun
	s.conn.(*pipe.Conn).CloseWrite()
	var c *call.Cancelled
	require.ErrorAs(t, <-cause, &c)
	require.Equal(t, "ABORTED environment", c.Code+" "+c.Attribution.String())
	r.want(frame.TypeLog)
	r.wantErr("ABORTED", frame.AttributionEnvironment)
	_, err := s.in.Next()
	require.Equal(t, io.EOF, err)
	require.NoError(t, <-s.served)
}

// A handler that does not end does not keep a cartridge.
func TestHandlerThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		c := cartridge.New("demo", "1", &cartridge.Options{StopLimit: 3 * time.Second})
		c.Handle(testCap, "Test", func(context.Context, *cartridge.Request) error { <-release; return nil })
		s := greeted(t, c, 32)
		s.req(testCap)
		synctest.Wait()
		begin := time.Now()
		require.NoError(t, s.finish())
		require.Equal(t, 3*time.Second, time.Since(begin))
	})
}

// A host that takes nothing does not keep a cartridge either.
func TestHostThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cartridge.New("demo", "1", nil)
		c.Handle(testCap, "Test", func(_ context.Context, r *cartridge.Request) error {
			_, err := r.Output("media:", nil).Write(make([]byte, 4<<20))
			return err
		})
		s := greeted(t, c, 32)
		s.req(testCap)
		synctest.Wait()
		begin := time.Now()
		s.conn.(*pipe.Conn).CloseWrite()
		require.NoError(t, <-s.served)
		require.Equal(t, time.Second, time.Since(begin))
	})
}

func TestEndOfContext(t *testing.T) {
	relaytest.NoLeaks(t)
	gone := errors.New("gone")
	for name, greet := range map[string]bool{"before the HELLO": false, "while a request runs": true} {
		t.Run(name, func(t *testing.T) {
			near, far := pipe.New(0)
			defer near.Close()
			ctx, cancel := context.WithCancelCause(t.Context())
			c := cartridge.New("demo", "1", nil)
			begun, cause := make(chan struct{}), make(chan error, 1)
			c.Handle(testCap, "Test", func(ctx context.Context, r *cartridge.Request) error {
				close(begun)
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return nil
			})
			served := make(chan error, 1)
			go func() { served <- c.Serve(ctx, far) }()
			if greet {
				h := newLoopback(t, near, frame.DefaultLimits())
				defer h.Close()
				l, err := h.Open(t.Context(), callRequest(testCap))
				require.NoError(t, err)
				<-begun
				cancel(gone)
				require.Equal(t, gone, <-cause)
				f, err := l.Next(t.Context())
				require.NoError(t, err)
				require.Equal(t, frame.TypeErr, f.Type, "it is written before the connection is closed")
			}
			cancel(gone)
			require.Equal(t, gone, <-served)
		})
	}
}

// A host that has gone is no error, though writing to it may fail first.
func TestHostThatGoesWhileHandlersWrite(t *testing.T) {
	for range 20 {
		near, far, err := relaytest.SocketPair()
		require.NoError(t, err)
		c := cartridge.New("demo", "1", nil)
		c.Handle(testCap, "Test", func(ctx context.Context, r *cartridge.Request) error {
			for ctx.Err() == nil {
				r.Log("info", frame.AttributionInternal, "chatter")
			}
			return nil
		})
		served := make(chan error, 1)
		go func() { served <- c.Serve(t.Context(), far) }()
		hello, err := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
		require.NoError(t, err)
		req := frame.NewReq(frame.NewUUID(), []byte(testCap))
		w := frame.NewWriter(near, nil)
		require.NoError(t, w.Write(&hello))
		require.NoError(t, w.Write(&req))
		require.NoError(t, w.Flush())
		_, err = near.Read(make([]byte, 1))
		require.NoError(t, err)
		near.Close()
		if err := <-served; err != nil {
			require.ErrorIs(t, err, frame.ErrIO)
		}
	}
}

func TestServesSeveralConnections(t *testing.T) {
	relaytest.NoLeaks(t)
	c := cartridge.New("demo", "1", nil)
	c.Handle(hashCap, "Hash", hash)
	one, other := serve(t, c, frame.DefaultLimits()), serve(t, c, frame.DefaultLimits())
	for _, h := range []*loopback{one, other, one} {
		_, err := call.Do(t.Context(), h, hashCap, call.Bytes("media:", []byte("x")))
		require.NoError(t, err)
	}
}

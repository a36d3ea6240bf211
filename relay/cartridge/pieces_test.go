package cartridge_test

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/pipe"
)

// A countedConn counts how often something is written to it.
type countedConn struct {
	*pipe.Conn
	writes atomic.Int32
}

func (c *countedConn) TryWrite(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.TryWrite(p)
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// A short response goes out in one piece: whoever is on its way wakes once for it.
func TestShortResponseIsOneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := pipe.New(0)
		conn := &countedConn{Conn: far}
		c := cartridge.New("demo", "1", nil)
		proceed := make(chan struct{})
		c.Handle(testCap, "Test", func(_ context.Context, r *cartridge.Request) error {
			<-proceed
			_, err := io.WriteString(r.Output("media:", nil), "pong")
			return err
		})
		s := script{t: t, conn: near, in: frame.NewReader(near, nil), out: frame.NewWriter(near, nil), served: make(chan error, 1)}
		go func() { s.served <- c.Serve(context.Background(), conn) }()
		s.hello(frame.DefaultLimits())
		r := s.req(testCap)
		end := frame.NewBodyEnd(r.id)
		r.sendAs(&end)
		synctest.Wait() // who reads the connection has nothing left to write
		before := conn.writes.Load()
		close(proceed)
		for _, typ := range []frame.Type{frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd} {
			s.want(typ)
		}
		require.EqualValues(t, 1, conn.writes.Load()-before)
		require.NoError(t, s.finish())
	})
}

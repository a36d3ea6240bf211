//go:build !race && !framepoison

package route_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// What a switch carries all the time costs no memory: frames of requests that run, both ways and between masters. A whole
// request costs a few pieces.
func TestFramesOnTheirWayTakeNoMemory(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	a, b := join(t, s, "a", identity, echoCap), join(t, s, "b", identity, hashCap)
	c, req := open(t, s, a, "cap:echo")
	peer := a.peer("cap:hash", frame.ID{})
	peerReq := b.expect(frame.TypeReq)
	ctx := context.Background()
	read := func(h *host) {
		if _, err := h.in.Next(); err != nil {
			t.Fatal(err)
		}
	}
	write := func(h *host, f *frame.Frame) {
		h.seq.Assign(f)
		if err := h.out.Write(f); err != nil {
			t.Fatal(err)
		}
		h.out.Flush()
	}
	stream := []byte("0a1b2c3d-4e5f-4081-92a3-b4c5d6e7f809")
	sum := flow.Checksum(make([]byte, 1000))
	down := frame.NewChunk(req.ID, stream, 0, make([]byte, 1000), sum)
	up := routed(down, req.RoutingID)
	between := frame.NewChunk(peer.ID, stream, 0, make([]byte, 1000), sum)
	back := routed(between, peerReq.RoutingID)
	n := testing.AllocsPerRun(500, func() {
		if err := c.Send(ctx, &down); err != nil {
			t.Fatal(err)
		}
		read(a)
		write(a, &up)
		if _, err := c.Next(ctx); err != nil {
			t.Fatal(err)
		}
		write(a, &between)
		read(b)
		write(b, &back)
		read(a)
	})
	require.LessOrEqual(t, n, 0.5)
}

func TestARequestTakesFewPiecesOfMemory(t *testing.T) {
	relaytest.NoLeaks(t)
	s := newSwitch(t, nil)
	h := join(t, s, "a", identity, echoCap)
	ctx := context.Background()
	end := frame.NewBodyEnd(frame.ID{})
	n := testing.AllocsPerRun(500, func() {
		l, err := s.Open(ctx, call.Request{Cap: "cap:echo", Batch: true})
		if err != nil {
			t.Fatal(err)
		}
		l.Send(ctx, &end)
		h.in.Next()
		f, _ := h.in.Next()
		answer, _ := frame.NewEnd(f.ID, frame.EndInfo{ExitCode: frame.Some[int64](0)})
		answer.RoutingID = f.RoutingID
		h.out.Write(&answer)
		h.out.Flush()
		if _, err := l.Next(ctx); err != nil {
			t.Fatal(err)
		}
		l.Close()
	})
	require.LessOrEqual(t, n, 12.0)
}

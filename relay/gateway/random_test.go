package gateway

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// Whatever callers send, in whatever order, others are served, and nothing is left of any request.
func TestRandomCallers(t *testing.T) {
	joined := make(chan Joined, 1)
	s, path := serveSwitch(t, &Options{MaxRequests: 20, MaxQueued: 1 << 20, Joined: func(j Joined) { joined <- j }})
	joinScripted(t, path, twoCaps)
	receive(t, joined)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var all sync.WaitGroup
	for i := range uint64(40) {
		all.Go(func() { misbehave(t, path, rand.New(rand.NewPCG(seed, i))) })
	}
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 40 {
		want := bytes.Repeat([]byte{byte(i)}, 10_000)
		if got, err := call.Do(t.Context(), c, "cap:echo", call.Bytes("media:", want)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("call %d brings %d bytes, %v", i, len(got), err)
		}
	}
	all.Wait()
	for end := time.Now().Add(patience); len(s.Stats().Requests.Active) > 0; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("requests are left: %+v", s.Stats().Requests.Active)
		}
	}
	if h := s.Health(); len(h) != 1 || !h[0].Healthy {
		t.Errorf("the host is %+v", h)
	}
}

// misbehave is a caller that sends frames at random, until its connection ends or it has had enough.
func misbehave(t *testing.T, path string, r *rand.Rand) {
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	if r.IntN(4) > 0 { // else it reads nothing
		go io.Copy(io.Discard, conn)
	}
	out := frame.NewWriter(conn, nil)
	hello, _ := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
	if out.Write(&hello) != nil {
		return
	}
	ids := make([]frame.ID, 5)
	for i := range ids {
		ids[i] = frame.NewUUID()
	}
	seqs := map[frame.ID]uint64{}
	for range 300 {
		f := randomFrame(r, ids)
		if f.Type.Flow() {
			f.Seq = seqs[f.ID]
			seqs[f.ID]++
			if r.IntN(100) == 0 {
				f.Seq += r.Uint64N(3)
			}
		}
		if out.Write(&f) != nil || r.IntN(4) == 0 && out.Flush() != nil {
			return
		}
	}
	out.Flush()
	if r.IntN(2) == 0 {
		conn.Write([]byte{0, 0, 1})
	}
}

// randomFrame is a frame of one of some requests; most are a caller's to send.
func randomFrame(r *rand.Rand, ids []frame.ID) frame.Frame {
	i := r.IntN(len(ids))
	id, stream := ids[i], []byte{'a' + byte(r.IntN(3))}
	switch n := r.IntN(300); {
	case n < 10:
		ids[i] = frame.NewUUID()
		return frame.NewReq(ids[i], []byte([]string{"cap:echo", "cap:silent", "cap:nobody", "none", StatusCap}[r.IntN(5)]))
	case n < 20:
		return frame.NewStreamStart(id, stream, []byte("media:"))
	case n < 120:
		payload := make([]byte, r.IntN(20_000))
		return frame.NewChunk(id, stream, r.Uint64N(5), payload, flow.Checksum(payload)+r.Uint64N(2))
	case n < 140:
		return frame.NewStreamEnd(id, stream, frame.Some(r.Uint64N(5)))
	case n < 150:
		return frame.NewBodyEnd(id)
	case n < 250:
		return frame.NewCredit(id, stream, r.Uint64N(1<<40), frame.Direction(r.IntN(3)))
	case n < 270:
		f, _ := frame.NewCancel(id, r.IntN(2) == 0, frame.CancelReason{Code: []byte("X")})
		return f
	case n < 290:
		return frame.NewCloseStream(id, stream)
	case n < 297:
		f, _ := frame.NewErr(id, frame.ErrInfo{Code: []byte("X"), Attribution: frame.AttributionUser, Message: []byte("x")})
		return f
	case n < 298:
		return frame.NewRelayState(nil)
	case n < 299:
		f := frame.NewBodyEnd(id)
		f.RoutingID = frame.Number(1)
		return f
	}
	return frame.NewReq(id, []byte("cap:silent"))
}

package bridge_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// traffic makes the frames of requests that begin, go on and end, all the while.
type traffic struct {
	random *rand.Rand
	open   []request
	size   func(*rand.Rand) int // of the payload of the next CHUNK
	reuse  bool                 // flows that have ended begin again

	begun, ended uint64 // requests
	credits      uint64
	end          frame.Frame
	err          frame.Frame
	log          frame.Frame
}

// A request is a flow of a traffic. The zero value has not begun.
type request struct {
	id, xid frame.ID
	seq     uint64
	chunks  uint64
}

// newTraffic returns a traffic with some requests open at a time.
func newTraffic(t testing.TB, seed uint64, open int, size func(*rand.Rand) int) *traffic {
	t.Helper()
	made := func(f frame.Frame, err error) frame.Frame {
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	g := &traffic{random: rand.New(rand.NewPCG(seed, 0)), open: make([]request, open), size: size}
	g.end = made(frame.NewEnd(rid, frame.EndInfo{ExitCode: frame.Some[int64](0), Message: []byte("done")}))
	g.err = made(frame.NewErr(rid, frame.ErrInfo{Code: []byte("BUSY"), Attribution: frame.AttributionResource, Message: []byte("later")}))
	g.log = made(frame.NewLog(rid, frame.LogInfo{Message: []byte("half"), Progress: frame.Some(0.5)}))
	return g
}

// filler is what payloads are cut from.
var filler = bytes.Repeat([]byte("the quick brown fox jumps over the lazy dog. "), 6000)

// next returns the next frame, which borrows.
func (g *traffic) next() frame.Frame {
	place := g.random.IntN(len(g.open))
	r := &g.open[place]
	if r.id.IsZero() {
		g.begun++
		*r = request{id: g.freshID(), xid: frame.Number(g.begun)}
		if g.reuse {
			r.id, r.xid = frame.Number(uint64(place/2)), [...]frame.ID{{}, frame.Number(0)}[place%2]
		}
		return g.of(r, frame.NewReq(r.id, []byte("cap:effect=none")))
	}
	switch dice := g.random.IntN(100); {
	case dice < 4:
		return g.endOf(r, g.end)
	case dice < 5:
		return g.endOf(r, g.err)
	case dice < 10:
		return g.of(r, g.log)
	case dice < 15:
		return g.of(r, frame.NewStreamStart(r.id, streamID, []byte("media:bytes")))
	case dice < 20:
		return g.of(r, frame.NewStreamEnd(r.id, streamID, frame.Some(r.chunks)))
	case dice < 30:
		g.credits++
		f := frame.NewCredit(r.id, streamID, g.credits, frame.ResponseDirection)
		f.RoutingID = r.xid
		return f
	}
	r.chunks++
	size := g.size(g.random)
	return g.of(r, frame.NewChunk(r.id, streamID, r.chunks-1, filler[:size], mark(r.seq, size)))
}

// mark stands for the checksum of a CHUNK, which no relay looks at.
func mark(seq uint64, size int) uint64 { return seq*0x9e3779b97f4a7c15 + uint64(size) }

// last returns the end of a request that is still open, and false when none is.
func (g *traffic) last() (frame.Frame, bool) {
	for i := range g.open {
		if r := &g.open[i]; !r.id.IsZero() {
			return g.endOf(r, g.end), true
		}
	}
	return frame.Frame{}, false
}

func (g *traffic) freshID() frame.ID {
	if g.begun%8 == 0 {
		return frame.Number(g.begun)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], g.random.Uint64())
	binary.BigEndian.PutUint64(b[8:], g.begun)
	return frame.UUID(b)
}

// of makes a frame the next one of a request.
func (g *traffic) of(r *request, f frame.Frame) frame.Frame {
	f.ID, f.RoutingID, f.Seq = r.id, r.xid, r.seq
	r.seq++
	return f
}

func (g *traffic) endOf(r *request, f frame.Frame) frame.Frame {
	f = g.of(r, f)
	g.ended++
	*r = request{}
	return f
}

// tape returns some frames, and then the ends of all requests, each as it travels.
func (g *traffic) tape(t testing.TB, frames int) (all [][]byte) {
	t.Helper()
	for range frames {
		all = append(all, wire(t, g.next()))
	}
	for f, ok := g.last(); ok; f, ok = g.last() {
		all = append(all, wire(t, f))
	}
	return all
}

// mixedSizes are mostly small, and now and then as large as a CHUNK gets.
func mixedSizes(r *rand.Rand) int {
	switch dice := r.IntN(1000); {
	case dice < 1:
		return 256 << 10
	case dice < 10:
		return 64 << 10
	case dice < 100:
		return r.IntN(8 << 10)
	}
	return r.IntN(1 << 10)
}

package interop

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

func TestPeersCountTheSameChecksums(t *testing.T) {
	eachPeer(t, func(t *testing.T, p *peer) {
		s := newSource(t, p)
		var payloads, bodies [][]byte
		for n := range 300 {
			payload := make([]byte, n)
			for i := range payload {
				payload[i] = byte(s.Uint32())
			}
			payloads = append(payloads, payload)
			bodies = append(bodies, encode(t, &frame.Frame{
				Type: frame.TypeChunk, ID: frame.Number(1), Payload: payload,
				ChunkIndex: frame.Some[uint64](0), Checksum: frame.Some[uint64](0),
			}))
		}
		for i, theirs := range verdictsOf(t, p, bodies) {
			require.Equal(t, theirs.Checksum, flow.Checksum(payloads[i]), "Checksum(%x)", payloads[i])
		}
	})
}

// inDisorder returns frames of a few flows in which many come early and some twice.
func inDisorder(random *rand.Rand, n int) []*frame.Frame {
	types := [...]frame.Type{
		frame.TypeReq, frame.TypeStreamStart, frame.TypeLog, frame.TypeLog, frame.TypeLog, frame.TypeStreamEnd,
		frame.TypeEnd, frame.TypeErr, frame.TypeCancel, frame.TypeHeartbeat,
	}
	next := map[flow.Key]uint64{}
	frames := make([]*frame.Frame, n)
	for i := range frames {
		f := &frame.Frame{Type: types[random.IntN(len(types))], ID: frame.Number(random.Uint64N(3))}
		if random.IntN(2) == 0 {
			f.RoutingID = frame.Number(random.Uint64N(2))
		}
		key := flow.KeyOf(f.Head())
		f.Seq = next[key]
		switch {
		case random.IntN(2) == 0:
			f.Seq += 1 + random.Uint64N(5)
		case random.IntN(20) == 0:
			f.Seq /= 2
		case f.Type.Terminal():
			next[key] = 0
		case f.Type.Flow():
			next[key]++
		}
		frames[i] = f
	}
	return frames
}

// ourOrder offers a frame to our buffer as the peer's program does to theirs, which takes all
// that is due before it forgets a flow.
func ourOrder(b *flow.ReorderBuffer, f *frame.Frame) (delivered []uint64, err error) {
	delivered = []uint64{}
	ended := map[flow.Key]bool{}
	h := f.Head()
	ready, err := b.Accept(&h, nil)
	for ok := ready; ok; h, _, ok = b.Release() {
		delivered = append(delivered, h.Seq)
		if h.Type.Terminal() {
			ended[flow.KeyOf(h)] = true
		}
	}
	for key := range ended {
		b.Cleanup(key)
	}
	return delivered, err
}

// Requirements: S2, M3
func TestPeersKeepTheSameOrder(t *testing.T) {
	const held = 3
	eachPeer(t, func(t *testing.T, p *peer) {
		frames := inDisorder(newSource(t, p).Rand, 4000)
		bodies := make([][]byte, len(frames))
		for i, f := range frames {
			bodies[i] = encode(t, f)
		}
		b := flow.NewReorderBuffer(held, nil)
		outcomes := map[string]int{}
		for i, theirs := range judge(t, p, bodies, "reorder", strconv.Itoa(held)) {
			delivered, err := ourOrder(b, frames[i])
			require.Equal(t, theirs.Error, frame.KindOf(err), "frame %d: %v against %q", i, err, theirs.Text)
			outcomes[outcome(delivered, err)]++
			if err == nil {
				require.Equal(t, theirs.Deliver, delivered, "frame %d", i)
				continue
			}
			require.Contains(t, theirs.Text, map[bool]string{true: "overflow", false: "stale"}[errors.Is(err, flow.ErrOverflow)], "frame %d", i)
		}
		t.Logf("outcomes: %v", outcomes)
		assert.Len(t, outcomes, 6, "outcomes: %v", outcomes)
	})
}

// outcome names what came of a frame.
func outcome(delivered []uint64, err error) string {
	for _, refusal := range []error{flow.ErrStale, flow.ErrDuplicate, flow.ErrOverflow} {
		if errors.Is(err, refusal) {
			return refusal.Error()
		}
	}
	switch len(delivered) {
	case 0:
		return "held"
	case 1:
		return "delivered"
	}
	return "delivered with others"
}

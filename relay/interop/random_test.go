package interop

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
)

// A source makes random frames.
type source struct {
	*rand.Rand
	types []frame.Type
}

// newSource returns a source of the types that a peer knows. Its seed is in the test's log.
func newSource(t *testing.T, p *peer) *source {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := &source{Rand: rand.New(rand.NewPCG(seed, 0))}
	for n := range 256 {
		if _, known := p.facts.Types[frame.Type(n).String()]; known {
			s.types = append(s.types, frame.Type(n))
		}
	}
	return s
}

// frame returns a frame of any type with any fields, also ones that the type does not use.
func (s *source) frame(t *testing.T) *frame.Frame {
	f := &frame.Frame{
		Type: s.types[s.IntN(len(s.types))], ID: s.id(), Seq: s.count(),
		ContentType: s.text(), Cap: s.text(), StreamID: s.text(), MediaURN: s.text(), Payload: s.bytes(),
		Len: s.number(), Offset: s.number(), ChunkIndex: s.number(), ChunkCount: s.number(),
		Checksum: s.number(), Credit: s.number(),
		EOF: s.bool(), IsSequence: s.bool(), ForceKill: s.bool(), Unbounded: s.bool(),
	}
	if s.one(2) {
		f.RoutingID = s.id()
	}
	switch f.Type {
	case frame.TypeChunk:
		f.ChunkIndex, f.Checksum = frame.Some(s.count()), frame.Some(s.Uint64())
	case frame.TypeCredit:
		f.Credit = frame.Some(s.Uint64())
	case frame.TypePolicy:
		f.Meta = networkMeta(t, "offline") // the peer refuses any that says nothing
		return f
	}
	if s.one(2) {
		f.Meta = s.meta(t)
	}
	return f
}

func (s *source) one(in int) bool { return s.IntN(in) == 0 }

func (s *source) id() frame.ID {
	if s.one(2) {
		return frame.Number(s.count())
	}
	var b [16]byte
	for i := range b {
		b[i] = byte(s.Uint32())
	}
	return frame.UUID(b)
}

// count returns a number below 2^63, often next to where its encoding gets longer.
func (s *source) count() uint64 {
	edges := [...]uint64{0, 23, 24, 255, 256, 65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64}
	if s.one(3) {
		return s.Uint64() >> (1 + s.IntN(63))
	}
	return edges[s.IntN(len(edges))]
}

func (s *source) number() frame.Optional[uint64] {
	if s.one(3) {
		return frame.Some(s.count())
	}
	return frame.Optional[uint64]{}
}

func (s *source) bool() frame.Optional[bool] {
	if s.one(3) {
		return frame.Some(s.one(2))
	}
	return frame.Optional[bool]{}
}

// length returns a length of a text or byte string, often next to where its head gets longer.
func (s *source) length() int {
	edges := [...]int{0, 1, 23, 24, 255, 256, 1000}
	if s.one(200) {
		return 65535 + s.IntN(2)
	}
	return edges[s.IntN(len(edges))]
}

// text returns none, an empty one, or one with characters of one to four bytes.
func (s *source) text() []byte {
	if s.one(2) {
		return nil
	}
	text := strings.Repeat("a", s.length())
	for range s.IntN(4) {
		text += string([]rune{'é', '€', '\U0001F600', '\x00', '"'}[s.IntN(5)])
	}
	return []byte(text)
}

func (s *source) bytes() []byte {
	if s.one(2) {
		return nil
	}
	b := make([]byte, s.length())
	for i := range b {
		b[i] = byte(s.Uint32())
	}
	return b
}

// meta returns a map of values of every kind.
func (s *source) meta(t *testing.T) frame.Meta {
	var b frame.MetaBuilder
	for i := range s.IntN(8) {
		name := fmt.Sprintf("%s%d", strings.Repeat("n", s.IntN(30)), i)
		switch s.IntN(7) {
		case 0:
			b.Text(name, string(s.text()))
		case 1:
			b.Bytes(name, s.bytes())
		case 2:
			b.Int(name, int64(s.Uint64()))
		case 3:
			b.Uint(name, s.Uint64())
		case 4:
			b.Float(name, s.NormFloat64()) // the peer writes NaN and infinities shorter than we do
		case 5:
			b.Bool(name, s.one(2))
		case 6:
			b.Any(name, map[string]any{"list": []any{nil, -1, "x", []byte{1}, []any{}}, "map": map[string]any{}, "n": s.count()})
		}
	}
	meta, err := b.Meta()
	require.NoError(t, err)
	return meta
}

// networkMeta returns what a POLICY of the newest peer says.
func networkMeta(t *testing.T, word string) frame.Meta {
	var b frame.MetaBuilder
	b.Text("network", word)
	meta, err := b.Meta()
	require.NoError(t, err)
	return meta
}

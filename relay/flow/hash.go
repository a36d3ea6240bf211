package flow

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/cosim-go/cosim/relay/frame"
)

// A hasher hashes keys with secret numbers: peers choose ids, and must not be able to choose
// many that fall on one place.
type hasher [3]uint64

func newHasher() hasher {
	return hasher{rand.Uint64(), rand.Uint64(), rand.Uint64()}
}

func (h *hasher) key(k *Key) uint32 {
	rid := h.id(k.RID)
	xid := h.id(k.XID)
	return uint32(fold(rid^h[1], xid^h[2]))
}

// id tells a number, a UUID and none apart: only a UUID has two words of its own.
func (h *hasher) id(id frame.ID) uint64 {
	if n, ok := id.Number(); ok {
		return fold(n^h[0], h[1])
	}
	if b, ok := id.UUID(); ok {
		return fold(binary.BigEndian.Uint64(b[:8])^h[0], binary.BigEndian.Uint64(b[8:])^h[2])
	}
	return 0
}

// fold multiplies, and folds the product's halves onto each other.
func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

package flow

import (
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

func (h *hasher) key(rid, xid *frame.ID) uint32 {
	ridForm, ridHigh, ridLow := rid.Words()
	xidForm, xidHigh, xidLow := xid.Words()
	r := fold(ridHigh^ridForm<<62^h[0], ridLow^h[1])
	x := fold(xidHigh^xidForm<<62^h[1], xidLow^h[2])
	return uint32(fold(r^h[2], x^h[0]))
}

// fold multiplies, and folds the product's halves onto each other.
func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

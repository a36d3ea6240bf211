package caps

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync/atomic"
)

const (
	memoSets = 256
	memoWays = 4    // results of one hash that are kept side by side
	memoText = 1024 // bytes of the texts of a result that is kept at most
)

// A memo keeps the newest results by the texts that were looked up, a bounded number of them. It
// is safe for concurrent use.
type memo struct {
	seed maphash.Seed
	turn atomic.Uint32 // counts what was kept, to choose what to forget
	sets [memoSets][memoWays]atomic.Pointer[result]
}

// A result is what was found for the texts of a request and a preferred cap.
type result struct {
	request, preferred string
	place              int // in the table; negative for none
}

// hash returns the hash of a request and a preferred cap, given that of the request.
func (m *memo) hash(request uint64, preferred string) uint64 {
	if preferred == "" {
		return request
	}
	return bits.RotateLeft64(request, 1) ^ maphash.String(m.seed, preferred)
}

// recall returns the result for a request and a preferred cap, or nil.
func recall[text string | []byte](m *memo, hash uint64, request text, preferred string) *result {
	set := &m.sets[hash%memoSets]
	for way := range set {
		r := set[way].Load()
		if r != nil && r.request == string(request) && r.preferred == preferred {
			return r
		}
	}
	return nil
}

// keep keeps a result, unless its texts are long.
func (m *memo) keep(hash uint64, request, preferred string, place int) {
	if len(request)+len(preferred) > memoText {
		return
	}
	set := &m.sets[hash%memoSets]
	way := int(m.turn.Add(1) % memoWays)
	for free := range set {
		if set[free].Load() == nil {
			way = free
			break
		}
	}
	set[way].Store(&result{strings.Clone(request), strings.Clone(preferred), place})
}

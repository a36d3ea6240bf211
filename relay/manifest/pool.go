package manifest

import (
	"maps"
	"slices"
	"strings"

	"github.com/cosim-go/cosim/relay/caps"
)

// PoolAll is the name of the pool that every cap of a cartridge belongs to.
const PoolAll = "all"

// A PoolState is a bound on how many requests a cartridge serves at once, and how many there are.
type PoolState struct {
	Declared   uint64   // what the cartridge's manifest says; 0 is no bound
	Configured uint64   // what the operator wants, at first Declared; 0 is no bound
	Available  *uint64  // what the cartridge can serve now by its own account; nil and 0 are no bound
	Active     uint64   // requests that are served
	Queued     uint64   // requests that wait for this pool
	Caps       []string // canonical URNs of the members; none in a cap's own pool
}

// Effective returns the bound that counts: the smaller of Configured and Available, and 0 when neither is one.
func (s PoolState) Effective() uint64 {
	if s.Available == nil || *s.Available == 0 {
		return s.Configured
	}
	if s.Configured == 0 {
		return *s.Available
	}
	return min(s.Configured, *s.Available)
}

// Pools are the pools of a cartridge by name: the canonical URN of a cap for its own pool, the name of
// a declared pool, [PoolAll].
type Pools map[string]PoolState

// IsCapName reports whether the name of a pool is that of a cap's own pool: whether it begins like a cap
// URN, in whatever case.
func IsCapName(pool string) bool {
	const prefix = "cap:"
	return len(pool) >= len(prefix) && strings.EqualFold(pool[:len(prefix)], prefix)
}

// PoolsFromCapacity returns the pools of a peer that knows no pools but the number of requests it takes
// at once, 0 for any: that is the bound of all, and every cap has a pool without a bound.
func PoolsFromCapacity(n uint64, table []*caps.Cap) Pools {
	p := make(Pools, len(table)+1)
	members := make([]string, 0, len(table))
	for _, c := range table {
		name := c.String()
		if _, known := p[name]; !known {
			p[name] = PoolState{}
			members = append(members, name)
		}
	}
	p[PoolAll] = PoolState{Declared: n, Configured: n, Caps: members}
	return p
}

// Capacity returns the bound of all requests, for peers that know no pools; 0 is none.
func (p Pools) Capacity() uint64 { return p[PoolAll].Effective() }

// Clone returns a copy that shares nothing that can be written to.
func (p Pools) Clone() Pools {
	c := maps.Clone(p)
	for name, s := range c {
		if s.Available != nil {
			n := *s.Available
			s.Available = &n
		}
		s.Caps = slices.Clone(s.Caps)
		c[name] = s
	}
	return c
}

// AppendJSON appends the pools as a JSON object, in the order of their names.
func (p Pools) AppendJSON(dst []byte) []byte {
	o := newObject(dst)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		o.key(name)
		o.dst = p[name].append(o.dst)
	}
	return o.end()
}

func (s PoolState) append(dst []byte) []byte {
	o := newObject(dst)
	o.number("declared", s.Declared)
	o.number("configured", s.Configured)
	o.optional("available", s.Available)
	o.number("active", s.Active)
	o.number("queued", s.Queued)
	if len(s.Caps) > 0 {
		o.texts("caps", s.Caps)
	}
	return o.end()
}

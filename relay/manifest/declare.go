package manifest

import (
	"maps"
	"slices"
)

// PoolDeclarations are the pools that a cartridge's manifest declares, and the bounds of pools. Caps may be
// spelled in any way.
type PoolDeclarations struct {
	Pools      map[string][]string // by name, the caps that belong to it
	Capacities map[string]uint64   // by the name of a cap, a declared pool, or PoolAll; 0 is no bound
}

func (d PoolDeclarations) append(dst []byte) []byte {
	o := newObject(dst)
	if len(d.Pools) > 0 {
		o.key("pools")
		pools := newObject(o.dst)
		for _, name := range slices.Sorted(maps.Keys(d.Pools)) {
			pools.texts(name, d.Pools[name])
		}
		o.dst = pools.end()
	}
	if len(d.Capacities) > 0 {
		o.key("capacities")
		bounds := newObject(o.dst)
		for _, name := range slices.Sorted(maps.Keys(d.Capacities)) {
			bounds.number(name, d.Capacities[name])
		}
		o.dst = bounds.end()
	}
	return o.end()
}

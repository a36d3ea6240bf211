package manifest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cosim-go/cosim/relay/caps"
)

// PoolDeclarations are the pools that a cartridge's manifest declares, and the bounds of pools. Caps may be
// spelled in any way.
type PoolDeclarations struct {
	Pools      map[string][]string // by name, the caps that belong to it
	Capacities map[string]uint64   // by the name of a cap, a declared pool, or PoolAll; 0 is no bound
}

// canonical returns the declarations with canonical URNs, and the first fault in the order of names. declared
// are the caps of the manifest, by canonical text.
func (d PoolDeclarations) canonical(declared map[string]bool) (PoolDeclarations, error) {
	var c PoolDeclarations
	for _, name := range slices.Sorted(maps.Keys(d.Pools)) {
		members, err := canonicalMembers(name, d.Pools[name], declared)
		if err != nil {
			return c, within(".pools", within(memberPath(name), err))
		}
		set(&c.Pools, name, members)
	}
	for _, key := range slices.Sorted(maps.Keys(d.Capacities)) {
		name, err := key, error(nil)
		if _, pool := d.Pools[key]; key != PoolAll && !pool {
			if name, err = declaredCap(key, declared); err != nil {
				err = fmt.Errorf("is neither %q nor a declared pool or cap: %w", PoolAll, err)
			}
		}
		if _, twice := c.Capacities[name]; twice && err == nil {
			err = errTwoSpellings
		}
		if err != nil {
			return c, within(".capacities", within(memberPath(key), err))
		}
		set(&c.Capacities, name, d.Capacities[key])
	}
	return c, nil
}

func canonicalMembers(pool string, members []string, declared map[string]bool) ([]string, error) {
	switch {
	case pool == PoolAll:
		return nil, errors.New("is there by itself and cannot be declared")
	case IsCapName(pool):
		return nil, errors.New("has the name of a cap, which has its own pool by itself")
	case len(members) == 0:
		return nil, errors.New("has no members")
	}
	list := make([]string, len(members))
	seen := make(map[string]bool, len(members))
	for i, text := range members {
		name, err := declaredCap(text, declared)
		if err == nil && seen[name] {
			err = fmt.Errorf("is %s, which is in the pool already", quote(name))
		}
		if err != nil {
			return nil, within(fmt.Sprintf("[%d]", i), err)
		}
		seen[name] = true
		list[i] = name
	}
	return list, nil
}

// declaredCap returns the canonical form of the URN of a cap that the manifest has.
func declaredCap(text string, declared map[string]bool) (string, error) {
	c, err := caps.Parse(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("is %s, which is no cap URN: %w", quote(text), err)
	case !declared[c.String()]:
		return "", fmt.Errorf("is %s, which is no cap of the manifest", quote(text))
	}
	return c.String(), nil
}

func set[V any](m *map[string]V, name string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[name] = v
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

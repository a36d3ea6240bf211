package merge

import "github.com/cosim-go/cosim/topology/internal/source"

// few is the number of entries, or of searches, up to which a list is searched from its
// start.
const few = 16

// overlay puts entries over those of a base: mappings merge with mappings, everything
// else replaces, null removes. The order is that of the base, new keys behind it. The
// base is overwritten. Where outermost, `use` is left out, since it is being resolved.
func overlay(base []source.Entry, over source.Iterator, outermost bool) []source.Entry {
	find := finder(base, over.Len())
	result := base
	for over.Next() {
		e := over.Entry
		if outermost && e.Name == "use" {
			continue
		}
		i, known := find(e.Name)
		switch {
		case known && e.Value.IsNull():
			result[i] = source.Entry{}
		case e.Value.IsNull():
		case known:
			e.Value = merged(result[i].Value, e.Value)
			result[i] = e
		default:
			result = append(result, e)
		}
	}
	return withoutNull(result)
}

// finder finds entries of a base by name, the given number of times.
func finder(base []source.Entry, times int) func(name string) (int, bool) {
	if min(len(base), times) <= few {
		return func(name string) (int, bool) {
			for i := range base {
				if base[i].Name == name && base[i].Value.Present() {
					return i, true
				}
			}
			return 0, false
		}
	}
	index := make(map[string]int, len(base))
	for i, e := range base {
		index[e.Name] = i
	}
	return func(name string) (int, bool) {
		i, ok := index[name]
		return i, ok && base[i].Value.Present()
	}
}

func withoutNull(entries []source.Entry) []source.Entry {
	kept := entries[:0]
	for _, e := range entries {
		if e.Value.Present() && !e.Value.IsNull() {
			kept = append(kept, e)
		}
	}
	return kept
}

// A mapping with more than large entries that is merged again and again is no topology
// anyone writes. It counts more than what is only looked at.
const (
	large       = 64
	costOfLarge = 4
)

// merged is one value put over another.
func merged(base, over source.Value) source.Value {
	if !base.IsMapping() || !over.IsMapping() {
		return over
	}
	if n := base.Len(); n > large && !base.Spend((costOfLarge-1)*n) {
		return over
	}
	entries := make([]source.Entry, 0, base.Len()+over.Len())
	for it := base.Entries(); it.Next(); {
		entries = append(entries, it.Entry)
	}
	o := &source.Object{Via: base.Via()}
	if inner := base.Object(); inner != nil {
		o.Incomplete = inner.Incomplete
	}
	o.Entries = overlay(entries, over.Entries(), false)
	return source.Merged(over, o)
}

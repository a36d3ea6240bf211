package merge

import "github.com/cosim-go/cosim/topology/internal/source"

// nothing is what a reference to nothing brings in.
var nothing = &source.Object{Incomplete: true}

// Resolve gives a mapping with the templates that it uses merged in, and without its
// `use`. Other values, and mappings that use nothing, are returned as they are.
func (t *Templates) Resolve(v source.Value) source.Value {
	e, ok := v.Get("use")
	if !ok || e.Value.IsNull() {
		return v
	}
	base := nothing
	if template := t.find(e.Value); template != nil {
		template.Used = true
		base = t.chain(template)
	}
	return t.over(base, v, e.Value)
}

// over merges a mapping that uses a template over the content of that template.
func (t *Templates) over(base *source.Object, v, use source.Value) source.Value {
	via := source.Through(use)
	if !t.context.Budget.Spend(len(base.Entries)+v.Len(), v) {
		return v
	}
	brought := source.Brought(base.Entries, via, v.Len())
	o := v.Object()
	return source.Merged(v, &source.Object{
		Entries:    overlay(brought, v.Entries(), true),
		Via:        via,
		Incomplete: base.Incomplete || o != nil && o.Incomplete,
	})
}

// kept is what an entry costs that is merged once and kept, as against one that is
// merged for its user and forgotten. It bounds the memory that chains of templates take.
const kept = 8

// chain gives the content of a template with what it uses itself merged in.
func (t *Templates) chain(template *Template) *source.Object {
	if template.broken {
		return nothing
	}
	if template.merged == nil {
		v := t.Resolve(template.Value)
		if v.Object() == nil {
			v = source.Merged(v, &source.Object{Entries: overlay(nil, v.Entries(), true)})
		}
		template.merged = v.Object()
		t.context.Budget.Spend(kept*template.merged.Size(), template.Value)
	}
	return template.merged
}

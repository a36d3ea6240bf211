package source

// A Via is a chain of `use` that brought a value in: one, or two chains joined. Joining
// copies nothing, since long chains of templates are joined again and again.
type Via struct {
	use          Value // of a single one
	inner, outer *Via  // of joined ones
}

// Through is the chain of a single `use`, whose value is the name of the template, in
// the chain that brought this one in.
func Through(use Value) *Via {
	v := &Via{use: use}
	return v.Then(use.via)
}

// Then is the chain that begins with v, inside, and goes on with outer.
func (v *Via) Then(outer *Via) *Via {
	switch {
	case v == nil:
		return outer
	case outer == nil:
		return v
	}
	return &Via{inner: v, outer: outer}
}

// Uses lists the first of a chain, from the inside out.
func (v *Via) Uses(most int) []Value {
	var uses []Value
	for rest := []*Via{v}; len(rest) > 0 && len(uses) < most; {
		next := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		switch {
		case next == nil:
		case next.inner == nil:
			uses = append(uses, next.use)
		default:
			rest = append(rest, next.outer, next.inner)
		}
	}
	return uses
}

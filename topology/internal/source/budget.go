package source

import "github.com/cosim-go/cosim/topology/schema"

// A Budget bounds the work of one load: the values looked at through aliases and
// templates, which a short document can multiply without end. What is written out is
// bounded by the size of its file. The zero value is full.
type Budget struct {
	spent int
	at    Value // where it ran out
}

// Spend takes n from the budget. It reports false once the budget has run out, and
// keeps at as the place where it did.
func (b *Budget) Spend(n int, at Value) bool {
	if b.spent > schema.MaxNodes {
		return false
	}
	if b.spent += n; b.spent > schema.MaxNodes {
		b.at = at
		return false
	}
	return true
}

// Exhausted gives the value at which the budget ran out.
func (b *Budget) Exhausted() (at Value, yes bool) {
	return b.at, b.spent > schema.MaxNodes
}

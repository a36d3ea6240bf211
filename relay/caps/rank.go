package caps

import (
	"cmp"
	"slices"
)

// A Ranked is a cap of a table that can serve a request.
type Ranked struct {
	Place    int // in the table
	Distance int // its specificity less that of the request
}

// Rank returns the caps of a table that can serve a request, the best first: those that say as
// much as the request or more before those that say less, and of either the nearest first. Of
// equals the one that comes first in the table is first. It looks at every cap; see [Index].
func Rank(request *Cap, table []*Cap) []Ranked {
	var ranked []Ranked
	for i, c := range table {
		if Dispatchable(c, request) {
			ranked = append(ranked, Ranked{Place: i, Distance: c.specificity - request.specificity})
		}
	}
	slices.SortStableFunc(ranked, func(a, b Ranked) int {
		if (a.Distance < 0) != (b.Distance < 0) {
			return cmp.Compare(b.Distance, a.Distance)
		}
		return cmp.Compare(abs(a.Distance), abs(b.Distance))
	})
	return ranked
}

func abs(n int) int { return max(n, -n) }

package adapters

import (
	"cmp"
	"slices"

	"github.com/cosim-go/cosim/topology"
)

func sortKinds(kinds []*topology.Kind) {
	slices.SortFunc(kinds, func(a, b *topology.Kind) int { return cmp.Compare(a.Name, b.Name) })
}

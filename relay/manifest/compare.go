package manifest

import (
	"maps"
	"slices"

	"github.com/cosim-go/cosim/relay/caps"
)

func sameCap(a, b *caps.Cap) bool { return a == b || a.String() == b.String() }

// sameAdmission reports whether two records are the same as far as letting in requests goes.
func sameAdmission(a, b Record) bool {
	switch {
	case a.Install != b.Install, (a.AttachmentError == nil) != (b.AttachmentError == nil), (a.Stats == nil) != (b.Stats == nil):
		return false
	case !sameGroups(a.Groups, b.Groups):
		return false
	case a.Stats == nil:
		return true
	}
	return a.Stats.Running == b.Stats.Running && maps.EqualFunc(a.Stats.Pools, b.Stats.Pools, sameBounds)
}

func sameBounds(a, b PoolState) bool {
	return a.Effective() == b.Effective() && sameSlice(a.Caps, b.Caps, func() bool { return slices.Equal(a.Caps, b.Caps) })
}

func sameGroups(a, b []CapGroup) bool {
	return sameSlice(a, b, func() bool {
		return slices.EqualFunc(a, b, func(a, b CapGroup) bool {
			return slices.EqualFunc(a.Caps, b.Caps, func(a, b Cap) bool { return sameCap(a.URN, b.URN) })
		})
	})
}

// sameSlice reports whether two slices are the same memory, or else what equal says.
func sameSlice[T any](a, b []T, equal func() bool) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || equal())
}

package manifest

import (
	"maps"
	"slices"

	"github.com/cosim-go/cosim/relay/caps"
)

func sameCap(a, b *caps.Cap) bool { return a == b || a.String() == b.String() }

// sameAdmission reports whether two records are the same as far as letting in requests goes. samePools is set
// when their pools are known to be.
func sameAdmission(a, b *Record, samePools bool) bool {
	switch {
	case a.Install != b.Install, (a.AttachmentError == nil) != (b.AttachmentError == nil), (a.Stats == nil) != (b.Stats == nil):
		return false
	case !sameMemory(a.Groups, b.Groups) && !slices.EqualFunc(a.Groups, b.Groups, sameGroup):
		return false
	case a.Stats == nil:
		return true
	}
	return a.Stats.Running == b.Stats.Running && (samePools || maps.EqualFunc(a.Stats.Pools, b.Stats.Pools, sameBound))
}

func sameBound(a, b PoolState) bool {
	return a.Effective() == b.Effective() && (sameMemory(a.Caps, b.Caps) || slices.Equal(a.Caps, b.Caps))
}

func sameGroup(a, b CapGroup) bool {
	return slices.EqualFunc(a.Caps, b.Caps, func(a, b Cap) bool { return sameCap(a.URN, b.URN) })
}

// sameMemory reports whether two slices are one, or both empty.
func sameMemory[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

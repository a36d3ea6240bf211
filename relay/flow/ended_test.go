package flow

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// An Ended remembers what a list does that is cut at its front.
func TestEndedRemembersTheFlowsAddedLast(t *testing.T) {
	for _, size := range []int{-1, 0, 1, 3, 20} {
		r := rand.New(rand.NewPCG(uint64(size+1), 4))
		ended := NewEnded(size)
		var list []Key
		for range 3000 {
			k := Key{RID: frame.Number(uint64(r.IntN(12)))}
			if r.IntN(3) == 0 {
				k.XID = frame.Number(uint64(r.IntN(3)))
			}
			at := slices.Index(list, k)
			if got := ended.Has(k); got != (at >= 0) {
				t.Fatalf("of %d: Has(%v) = %v", size, k, got)
			}
			if at >= 0 {
				list = slices.Delete(list, at, at+1)
			}
			if r.IntN(4) == 0 {
				ended.Remove(k)
				continue
			}
			ended.Add(k)
			list = append(list, k)
			list = list[max(0, len(list)-max(size, 0)):]
		}
		if size > 0 && len(list) == 0 {
			t.Error("nothing was remembered")
		}
	}
}

func TestEndedDoesNotAllocate(t *testing.T) {
	ended, n := NewEnded(64), uint64(0)
	turn := func() {
		n++
		ended.Add(Key{RID: frame.Number(n)})
		ended.Has(Key{RID: frame.Number(n - 1)})
	}
	for range 200 {
		turn()
	}
	if n := testing.AllocsPerRun(1000, turn); n != 0 {
		t.Errorf("Add and Has allocate %v times", n)
	}
}

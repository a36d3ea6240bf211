package frame_test

import (
	"math"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestLimits(t *testing.T) {
	d := frame.DefaultLimits()
	if want := (frame.Limits{MaxFrame: 3_670_016, MaxChunk: 262_144, MaxReorderBuffer: 64, InitialCredit: 32}); d != want {
		t.Errorf("DefaultLimits = %+v, want %+v", d, want)
	}
	a := frame.Limits{MaxFrame: 1, MaxChunk: 8, MaxReorderBuffer: 3, InitialCredit: 6}
	b := frame.Limits{MaxFrame: 5, MaxChunk: 4, MaxReorderBuffer: 7, InitialCredit: 2}
	if got, want := a.Min(b), (frame.Limits{MaxFrame: 1, MaxChunk: 4, MaxReorderBuffer: 3, InitialCredit: 2}); got != want || b.Min(a) != want {
		t.Errorf("Min = %+v, %+v, want %+v", got, b.Min(a), want)
	}
}

func TestFrameLimit(t *testing.T) {
	for asked, want := range map[uint64]int{1: 1, frame.HardMaxFrame: frame.HardMaxFrame, frame.HardMaxFrame + 1: frame.HardMaxFrame, math.MaxUint64: frame.HardMaxFrame} {
		if got := (frame.Limits{MaxFrame: asked}).FrameLimit(); got != want {
			t.Errorf("FrameLimit of %d = %d, want %d", asked, got, want)
		}
	}
}

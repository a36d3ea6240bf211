package frame_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestStreamEnd(t *testing.T) {
	for _, chunks := range []frame.Optional[uint64]{{}, frame.Some[uint64](0), frame.Some[uint64](3)} {
		f := frame.NewStreamEnd(sampleID, []byte("arg0"), chunks)
		got := decoded(t, encoded(t, &f))
		if got.Type != frame.TypeStreamEnd || string(got.StreamID) != "arg0" || got.ChunkCount != chunks {
			t.Errorf("NewStreamEnd(%v) = %+v", chunks, got)
		}
	}
}

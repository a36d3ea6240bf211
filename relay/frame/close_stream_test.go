package frame_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestCloseStream(t *testing.T) {
	for _, stream := range [][]byte{nil, []byte("mic")} {
		f := frame.NewCloseStream(sampleID, stream)
		got := decoded(t, encoded(t, &f))
		if got.Type != frame.TypeCloseStream || string(got.StreamID) != string(stream) || (got.StreamID == nil) != (stream == nil) {
			t.Errorf("NewCloseStream(%s) = %+v", stream, got)
		}
	}
}

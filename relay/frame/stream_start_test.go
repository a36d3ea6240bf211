package frame_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestStreamStart(t *testing.T) {
	f := frame.NewStreamStart(sampleID, []byte("arg0"), []byte("media:"))
	got := decoded(t, encoded(t, &f))
	if got.Type != frame.TypeStreamStart || string(got.StreamID) != "arg0" || string(got.MediaURN) != "media:" {
		t.Errorf("NewStreamStart = %+v", got)
	}
	if got.IsSequence.IsSet() || got.Unbounded.IsSet() {
		t.Error("NewStreamStart says how the stream is to be read")
	}
}

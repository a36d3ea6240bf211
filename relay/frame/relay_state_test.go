package frame_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// Requirement: ST1
func TestRelayState(t *testing.T) {
	f := frame.NewRelayState([]byte{0x00, 0xff})
	got := decoded(t, encoded(t, &f))
	if got.Type != frame.TypeRelayState || got.ID != frame.Number(0) || string(got.Payload) != "\x00\xff" || got.Meta.IsSet() {
		t.Errorf("NewRelayState = %+v", got)
	}
	empty := frame.NewRelayState(nil)
	if got := decoded(t, encoded(t, &empty)); got.Payload == nil {
		t.Error("NewRelayState(nil) has no payload, want an empty one")
	}
}

package frame_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// Requirement: PO1
func TestPolicy(t *testing.T) {
	f := frame.NewPolicy([]byte(`{}`))
	got := decoded(t, encoded(t, &f))
	if got.Type != frame.TypePolicy || got.ID != frame.Number(0) || !got.RoutingID.IsZero() || got.Seq != 0 || string(got.Payload) != "{}" {
		t.Errorf("NewPolicy = %+v", got)
	}
	if frame.TypePolicy.Flow() || frame.TypePolicy.Terminal() {
		t.Error("a policy counts as part of a flow")
	}
}

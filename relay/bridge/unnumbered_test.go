package bridge_test

import (
	"errors"
	"testing"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/flow"
)

// Requirements: S2, S3
func TestUnnumberedFramesPassWhenToldSo(t *testing.T) {
	s := start(t, &bridge.SlaveOptions{Unnumbered: true}, nil)
	unnumbered := wire(t, req(0), chunk(0, 40), chunk(0, 70<<10), bodyEnd(0), chunk(7, 1), req(0))
	go s.remote.Write(unnumbered)
	expect(t, s.host, unnumbered)

	// What the host sends is kept in order all the same.
	write(t, s.host, wire(t, chunk(1, 40), req(0)))
	expect(t, s.remote, wire(t, req(0), chunk(1, 40)))
	write(t, s.host, wire(t, req(0)))
	if err := s.wait(); !errors.Is(err, flow.ErrStale) {
		t.Errorf("Run = %v, want %v", err, flow.ErrStale)
	}
}

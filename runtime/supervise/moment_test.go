package supervise

import (
	"context"
	"testing"
)

// Requirement: X5. A device that leaves with 0 is seen before its vhost, which has a
// moment to follow: it may have something to do before.
func TestAVhostHasAMomentToFollowItsDevice(t *testing.T) {
	s := newStage(t)
	s.gate("device")
	s.gate("vhost")
	s.device("m", "d", "read x <device; exit 0")
	s.vhost("m", "read x <vhost; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 0")
	s.on("m/vhost", Ready, func() { s.open("device") })
	s.on("m/d", Exited, func() { s.open("vhost") })
	if err := s.run(context.Background()).Err(); err != nil {
		t.Error(err)
	}
}

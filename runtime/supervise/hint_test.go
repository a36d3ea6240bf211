package supervise

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/plan"
)

// A device that follows its vhost is no cause of the vhost's end.
func TestTheHintNamesADeviceThatEndedBefore(t *testing.T) {
	start := time.Unix(1000, 0)
	ended := func(id string, after time.Duration) *process {
		return &process{
			spec: &spec{Process: plan.Process{ID: id}}, child: &child{started: start},
			exited: true, status: unix.WaitStatus(0), endedAt: start.Add(after),
		}
	}
	vhost := ended("m/vhost", 2*time.Second)
	vhost.machine = &machine{vhost: vhost, devices: []*process{ended("m/late", 3*time.Second)}}
	if got := deviceBefore(vhost); got != "" {
		t.Errorf("deviceBefore = %q, want nothing", got)
	}
	vhost.machine.devices = append(vhost.machine.devices, ended("m/early", time.Second))
	if got, want := deviceBefore(vhost), `device "early" exited with status 0 after 1s, before its vhost: as the cause of its end, or a consequence`; got != want {
		t.Errorf("deviceBefore = %q, want %q", got, want)
	}
}

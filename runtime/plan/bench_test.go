package plan

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
)

// large is the plan of as many machines with 64 devices each.
func large(machines int) *Plan {
	const devices = 64
	p := &Plan{Images: []Image{}, Launch: Launch{Version: Version, Missing: []Missing{}}}
	for i := range machines {
		m := Machine{ID: fmt.Sprint("m", i), Placement: "local", Disks: []Disk{}, Pool: Pool{Path: fmt.Sprintf("/dev/shm/cosim-large-1a2b3c4d/m%d.pool", i), Size: layout.GiB}}
		ids := make([]string, devices)
		for j := range devices {
			ids[j] = fmt.Sprintf("m%d/nic-%d", i, j)
			m.Pool.Regions = append(m.Pool.Regions, layout.Region{Name: fmt.Sprintf("nic-%d.bar", j), Offset: layout.Addr(j * 2 << 20), Size: 2 * layout.MiB})
			p.Launch.Processes = append(p.Launch.Processes, Process{
				ID: ids[j], Machine: m.ID, Role: topology.RoleDevice, Kind: "nic-model", Program: "/usr/bin/nic-sim",
				Args: []string{fmt.Sprintf("--socket=/w/.cosim/large/m%d/nic-%d.sock", i, j), "--rate=100"}, Env: map[string]string{}, Dir: "/w",
				Dirs: []string{}, DependsOn: []string{}, Timeout: "120s", Log: fmt.Sprintf("/w/.cosim/large/m%d/nic-%d.log", i, j),
				Stop: adapters.Stop{Signal: "TERM", Grace: "5s"},
			})
		}
		p.Launch.Machines = append(p.Launch.Machines, m)
		p.Launch.Processes = append(p.Launch.Processes, Process{
			ID: m.ID + "/vhost", Machine: m.ID, Role: topology.RoleVhost, Kind: "qemu-vhost", Program: "/usr/bin/qemu-system-x86_64",
			Args: []string{"-m", "1024M"}, Env: map[string]string{}, Dir: "/w", Dirs: []string{}, DependsOn: ids,
			Ready: adapters.Ready{QMP: "/w/.cosim/large/" + m.ID + "/qmp.sock"}, Timeout: "120s",
			Stop: adapters.Stop{QMP: "/w/.cosim/large/" + m.ID + "/qmp.sock", Signal: "TERM", Grace: "5s"},
		})
	}
	return p
}

// The plan's writer against encoding/json, in one run: the metric is the ratio of their
// times, so that the machine cancels out. The standard encoder's output is compact, ours
// is indented and larger.
func BenchmarkWriteJSON(b *testing.B) {
	for _, machines := range []int{64, 512, 4096} {
		b.Run(fmt.Sprintf("processes=%d", machines*65), func(b *testing.B) {
			p := large(machines)
			b.ReportAllocs()
			var ours, standard time.Duration
			for b.Loop() {
				start := time.Now()
				if err := p.WriteJSON(io.Discard); err != nil {
					b.Fatal(err)
				}
				middle := time.Now()
				text, err := json.Marshal(p)
				if err != nil {
					b.Fatal(err)
				}
				standard += time.Since(middle)
				ours += middle.Sub(start)
				runtime.KeepAlive(text)
			}
			b.ReportMetric(float64(ours)/float64(standard), "ratio-to-json.Marshal")
			b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N)/float64(len(p.Launch.Processes)), "ns/process")
		})
	}
}

// A writer that streams allocates nothing that grows with the plan.
func TestWriteJSONHoldsOneRecord(t *testing.T) {
	small, big := large(1), large(20)
	allocs := func(p *Plan) float64 {
		return testing.AllocsPerRun(5, func() { p.WriteJSON(io.Discard) })
	}
	if a, b := allocs(small), allocs(big); b > a+8 {
		t.Errorf("allocations grow from %v to %v with 20 times the machines", a, b)
	}
}

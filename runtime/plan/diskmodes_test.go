package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
)

// Requirement: X3. Only a disk that is written to itself is locked against others, and
// only one that keeps its writes elsewhere has an overlay, made by the vhost's own tool.
func TestModesOfDisks(t *testing.T) {
	host := newHost("qemu-system-x86_64", "/opt/qemu/bin/qemu-img")
	for _, name := range []string{"/d/a", "/d/b", "/d/c", "/d/d", "/d/e"} {
		host.files[name] = plan.Ready
	}
	p := made(t, `version: 1
machines:
  - id: m
    vhost:
      kind: qemu-vhost
      memory: 64M
      params: {accel: tcg, qemu_img: /opt/qemu/bin/qemu-img}
      disks:
        - {id: large, path: /d/a, format: raw, size: 10G}
        - {id: thrown-away, path: /d/b, format: qcow2, mode: snapshot}
        - {id: itself, path: /d/c, format: raw, mode: direct}
        - {id: read-itself, path: /d/d, format: raw, mode: direct, readonly: true}
        - {id: read, path: /d/e, format: qcow2, readonly: true}
`, host)
	type row struct {
		target, lock, tool string
		mode               topology.DiskMode
		readOnly           bool
		size               layout.Size
	}
	got := map[string]row{}
	for _, d := range p.Launch.Machines[0].Disks {
		got[d.ID] = row{d.Target, d.Lock.Mode, d.Tool, d.Mode, d.ReadOnly, d.Size}
	}
	const tool = "/opt/qemu/bin/qemu-img"
	require.Equal(t, map[string]row{
		"large":       {"/w/.cosim/top/m/large.qcow2", "shared", tool, topology.Overlay, false, 10 * layout.GiB},
		"thrown-away": {"/w/.cosim/top/m/thrown-away.qcow2", "shared", tool, topology.Snapshot, false, 0},
		"itself":      {"/d/c", "exclusive", "", topology.Direct, false, 0},
		"read-itself": {"/d/d", "shared", "", topology.Direct, true, 0},
		"read":        {"/d/e", "shared", "", topology.Overlay, true, 0},
	}, got)
}

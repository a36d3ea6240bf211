package topology

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cosim-go/cosim/topology/layout"
	"github.com/cosim-go/cosim/topology/schema"
)

func loadText(main string) (*Model, []string) {
	model, problems := Load(FromFS(fstest.MapFS{"main.yaml": {Data: []byte(main)}}), "main.yaml", testOptions())
	var codes []string
	for _, d := range problems {
		codes = append(codes, d.Code)
	}
	return model, codes
}

func mustLoad(t testing.TB, main string) *Model {
	t.Helper()
	model, problems := Load(FromFS(fstest.MapFS{"main.yaml": {Data: []byte(main)}}), "main.yaml", testOptions())
	if model == nil {
		t.Fatalf("%s\nis refused:\n%s", main, text(t, problems))
	}
	return model
}

const sharedDevice = "{kind: qemu-device, params: {device: x, properties: {a: 1}}, args: [a, b], regions: {r: 4K}}"

// TestSharing shows that what is written once is decoded once, whether machines come from
// a count, share values by alias, or by template.
//
// Requirements: V3
func TestSharing(t *testing.T) {
	devices := "[" + strings.Repeat(sharedDevice+", ", 64) + "]"
	vhost := "{kind: qemu-vhost, memory: 1M}"
	for name, text := range map[string]string{
		"count":    fmt.Sprintf("  - {id: m, count: 4096, vhost: %s, devices: %s}\n", vhost, devices),
		"alias":    fmt.Sprintf("  - {id: a, vhost: &v %s, devices: &d %s}\n", vhost, devices) + numbered(4095, "  - {id: m%d, vhost: *v, devices: *d}\n"),
		"template": numbered(4096, "  - {id: m%d, use: t}\n") + fmt.Sprintf("templates: {t: {vhost: %s, devices: %s}}\n", vhost, devices),
	} {
		t.Run(name, func(t *testing.T) {
			m := mustLoad(t, "version: 1\nmachines:\n"+text)
			first, last := m.Machines[0], m.Machines[4095]
			if len(m.Machines) != 4096 || first.Vhost != last.Vhost {
				t.Errorf("%d machines, vhosts shared: %v", len(m.Machines), first.Vhost == last.Vhost)
			}
			if len(last.Devices) != 64 || &first.Devices[0] != &last.Devices[0] {
				t.Errorf("%d devices, not shared", len(last.Devices))
			}
			l, problems := Layout(m, testPage)
			if problems != nil || l.Machines[4095].Size != 128*layout.MiB+4*layout.KiB {
				t.Errorf("last pool is %v: %v", l.Machines[4095].Size, problems)
			}
		})
	}
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestSharedDeviceInSeveralLists shows that an aliased device is decoded once for all
// lists that it stands in, and still is another device in each.
func TestSharedDeviceInSeveralLists(t *testing.T) {
	m := mustLoad(t, `version: 1
machines:
  - {id: a, vhost: &v {kind: qemu-vhost, memory: 1M}, devices: [&d `+sharedDevice+`]}
  - {id: b, vhost: *v, devices: [{id: other, kind: qemu-device, params: {device: y}}, *d]}
  - {id: c, vhost: *v, devices: [*d, *d]}
`)
	b, c := m.Machines[1].Devices[1], m.Machines[2].Devices
	if b.Index != 1 || b.ID != "qemu-device-0" || c[1].Index != 1 || c[1].ID != "qemu-device-1" || c[0].ID != "qemu-device-0" {
		t.Errorf("devices are %d %s, %d %s and %s", b.Index, b.ID, c[1].Index, c[1].ID, c[0].ID)
	}
	if &b.Regions[0] != &c[0].Regions[0] || &b.Args[0] != &c[1].Args[0] {
		t.Error("regions and arguments of an aliased device are not shared")
	}
}

// TestReportedOnce shows that a problem written once is reported once.
func TestReportedOnce(t *testing.T) {
	for _, text := range []string{
		"  - {id: m, count: 100, vhost: {kind: qemu-vhost, memory: 1GB}}\n",
		"  - {id: a, vhost: &v {kind: qemu-vhost, memory: 1GB}}\n" + numbered(100, "  - {id: m%d, vhost: *v}\n"),
		numbered(100, "  - {id: m%d, vhost: {use: t}}\n") + "templates: {t: {kind: qemu-vhost, memory: 1GB}}\n",
		numbered(100, "  - {id: m%d, vhost: {use: t, cpus: 2}}\n") + "templates: {t: {use: u}, u: {kind: qemu-vhost, memory: 1GB}}\n",
	} {
		if _, codes := loadText("version: 1\nmachines:\n" + text); len(codes) != 1 || codes[0] != schema.BadSize {
			t.Errorf("%.80s... reports %v, want one bad size", text, codes)
		}
	}
}

// TestTotalsComeFirst shows that counts are added up before anything is expanded.
//
// Requirements: V3, V5
func TestTotalsComeFirst(t *testing.T) {
	device := "{kind: qemu-device, count: 1024, params: {device: x}}, "
	for _, text := range []string{
		numbered(1000, "  - {id: m%d, count: 4096, vhost: {kind: qemu-vhost, memory: 1M}}\n"),
		"  - {id: m, count: 4096, vhost: {kind: qemu-vhost, memory: 1M}, devices: [" + strings.Repeat(device, 1000) + "]}\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, codes := loadText("version: 1\nmachines:\n" + text)
		runtime.ReadMemStats(&after)
		if len(codes) != 1 {
			t.Fatalf("%.60s... reports %v", text, codes)
		}
		// A million devices take more than 200 MB, four million machines more than 400 MB.
		if used := after.TotalAlloc - before.TotalAlloc; used > 50<<20 {
			t.Errorf("%.60s... takes %d MB", text, used>>20)
		}
	}
}

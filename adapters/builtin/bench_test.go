package builtin_test

import (
	"testing"

	"github.com/cosim-go/cosim/adapters/adapterstest"
)

// BenchmarkRender renders one machine with 64 devices; a large topology has thousands.
func BenchmarkRender(b *testing.B) {
	for kind, device := range map[string]string{
		"qemu-device": "kind: qemu-device, params: {device: nvme, properties: {serial: x}}",
		"gem5-mi300x": "kind: gem5-mi300x, regions: {vram: 8G}",
	} {
		b.Run("kind="+kind, func(b *testing.B) {
			model := loadModel(b, `version: 1
machines:
  - id: m0
    vhost: {kind: qemu-vhost, memory: 32G}
    devices: [{id: d, count: 64, `+device+`}]
`)
			machines, err := adapterstest.Machines(model, adapterstest.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := adapterstest.Render(machines[0], find); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

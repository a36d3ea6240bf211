package flow

import (
	"fmt"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// benchHeads returns the first heads of some flows.
func benchHeads(flows int) []frame.Head {
	heads := make([]frame.Head, flows)
	for i := range heads {
		heads[i] = frame.Head{Type: frame.TypeChunk, ID: frame.NewUUID(), RoutingID: frame.Number(uint64(i + 1))}
	}
	return heads
}

func BenchmarkAssign(b *testing.B) {
	for _, flows := range []int{1, 64} {
		b.Run(fmt.Sprintf("flows=%d", flows), func(b *testing.B) {
			var a SeqAssigner
			frames := make([]frame.Frame, flows)
			for i, h := range benchHeads(flows) {
				frames[i] = frame.Frame{Type: h.Type, ID: h.ID, RoutingID: h.RoutingID}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				a.Assign(&frames[i%flows])
			}
		})
	}
}

func BenchmarkAccept(b *testing.B) {
	wire := make([]byte, 1<<10)
	for _, flows := range []int{1, 64} {
		b.Run(fmt.Sprintf("flows=%d", flows), func(b *testing.B) {
			buffer := NewReorderBuffer(64, nil)
			heads := benchHeads(flows)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				h := &heads[i%flows]
				if ready, err := buffer.Accept(*h, wire); !ready || err != nil {
					b.Fatal(ready, err)
				}
				h.Seq++
			}
		})
	}
}

// BenchmarkAcceptSwapped offers every second frame before the one that it follows.
func BenchmarkAcceptSwapped(b *testing.B) {
	for _, size := range []int{1 << 10, 256 << 10} {
		b.Run("payload="+sizeName(size), func(b *testing.B) {
			buffer := NewReorderBuffer(64, nil)
			wire := make([]byte, size)
			h := benchHeads(1)[0]
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for i := uint64(0); b.Loop(); i++ {
				h.Seq = i ^ 1
				ready, err := buffer.Accept(h, wire)
				if err != nil {
					b.Fatal(err)
				}
				for ready {
					_, _, ready = buffer.Release()
				}
			}
		})
	}
}

// sizeName writes a number of bytes as the names of benchmarks do.
func sizeName(n int) string {
	if n < 1<<10 {
		return fmt.Sprintf("%dB", n)
	}
	return fmt.Sprintf("%dKiB", n>>10)
}

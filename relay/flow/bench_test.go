package flow

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"
	"testing"
	"time"

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
				a.Assign(&frames[i&(flows-1)])
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
				h := &heads[i&(flows-1)]
				if ready, err := buffer.Accept(h, wire); !ready || err != nil {
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
				ready, err := buffer.Accept(&h, wire)
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

// benchData returns bytes that were written: pages that never were are all one page of zeros,
// which some processors read far slower when several places of it are read at once.
func benchData(size int) []byte {
	return bytes.Repeat([]byte{0xa5}, size)
}

// sizeName writes a number of bytes as the names of benchmarks do.
func sizeName(n int) string {
	if n < 1<<10 {
		return fmt.Sprintf("%dB", n)
	}
	return fmt.Sprintf("%dKiB", n>>10)
}

// BenchmarkChecksum works on four payloads, one after the other and all at once. Beside its
// speed it reports how it compares with copying the payloads and with hash/fnv.
func BenchmarkChecksum(b *testing.B) {
	for _, size := range []int{64, 1 << 10, 64 << 10, 256 << 10} {
		for _, lanes := range []int{1, 4} {
			b.Run(fmt.Sprintf("payload=%s/lanes=%d", sizeName(size), lanes), func(b *testing.B) {
				payloads := make([][]byte, 4)
				for i := range payloads {
					payloads[i] = benchData(size)
				}
				sums := make([]uint64, len(payloads))
				b.SetBytes(int64(len(payloads) * size))
				b.ReportAllocs()
				for b.Loop() {
					if lanes > 1 {
						Checksums(sums, payloads)
						continue
					}
					for i, p := range payloads {
						sums[i] = Checksum(p)
					}
				}
				ours := b.Elapsed() / time.Duration(b.N)
				reportRatios(b, ours, payloads)
			})
		}
	}
}

func reportRatios(b *testing.B, ours time.Duration, payloads [][]byte) {
	b.StopTimer()
	into := make([]byte, len(payloads[0]))
	memcpy := timeOf(func() {
		for _, p := range payloads {
			copy(into, p)
		}
	})
	h := fnv.New64a()
	peer := timeOf(func() {
		for _, p := range payloads {
			h.Reset()
			h.Write(p)
		}
	})
	b.ReportMetric(float64(ours)/float64(memcpy), "x-memcpy")
	b.ReportMetric(float64(ours)/float64(peer), "x-hash/fnv")
}

// timeOf returns how long a run of a function takes: the median of some samples.
func timeOf(f func()) time.Duration {
	const samples, least = 7, 2 * time.Millisecond
	times := make([]time.Duration, samples)
	for i := range times {
		runs := 0
		start := time.Now()
		for time.Since(start) < least {
			for range 10 {
				f()
			}
			runs += 10
		}
		times[i] = max(time.Since(start)/time.Duration(runs), 1)
	}
	slices.Sort(times)
	return times[samples/2]
}

func BenchmarkGate(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	g := NewGate(1)
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Acquire(ctx, 1); err != nil {
			b.Fatal(err)
		}
		g.Grant(1)
	}
}

// BenchmarkGrant lets a CREDIT frame find its gate.
func BenchmarkGrant(b *testing.B) {
	const requests = 64
	gates := NewGates(frame.ResponseDirection)
	credits := make([]frame.Frame, requests)
	for i := range credits {
		stream := frame.NewUUID().String()
		credits[i] = frame.NewCredit(frame.NewUUID(), []byte(stream), 1, frame.ResponseDirection)
		gates.Open(credits[i].ID, stream, 0)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if !gates.Grant(&credits[i%requests]) {
			b.Fatal("no gate")
		}
	}
}

func BenchmarkWindow(b *testing.B) {
	w := NewWindow(frame.DefaultCredit)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Arrive(); err != nil {
			b.Fatal(err)
		}
		w.Consume()
	}
}

// BenchmarkChunker cuts 1 MiB in each of the three ways, checksums included.
func BenchmarkChunker(b *testing.B) {
	start := frame.NewStreamStart(frame.NewUUID(), []byte("out"), nil)
	data := benchData(1 << 20)
	for _, kind := range []struct {
		name string
		cut  func(c *Chunker) iter.Seq[*frame.Frame]
	}{
		{"payload", func(c *Chunker) iter.Seq[*frame.Frame] { return c.Payload(data, nil) }},
		{"scalar", func(c *Chunker) iter.Seq[*frame.Frame] { return c.Scalar(data) }},
		{"item", func(c *Chunker) iter.Seq[*frame.Frame] { return c.Item(data, frame.Meta{}) }},
	} {
		for _, size := range []int{64 << 10, 256 << 10} {
			b.Run(fmt.Sprintf("kind=%s/chunk=%s", kind.name, sizeName(size)), func(b *testing.B) {
				c := NewChunker(&start, size)
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					for range kind.cut(c) {
					}
				}
			})
		}
	}
}

// BenchmarkItems walks over items of many small values, checksums included, whole and in pieces.
func BenchmarkItems(b *testing.B) {
	start := frame.NewStreamStart(frame.NewUUID(), []byte("out"), nil)
	item := append([]byte("\x9a\x00\x00\x40\x00"), make([]byte, 16<<10)...)
	for _, size := range []int{64, 1 << 10, 64 << 10} {
		b.Run("chunk="+sizeName(size), func(b *testing.B) {
			c := NewChunker(&start, size)
			s, err := NewItems(&start, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(item)))
			b.ReportAllocs()
			for b.Loop() {
				for f := range c.Item(item, frame.Meta{}) {
					if _, _, err := s.Chunk(f); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

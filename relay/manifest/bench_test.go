package manifest_test

import (
	"fmt"
	"testing"

	"github.com/cosim-go/cosim/relay/manifest"
)

func BenchmarkParseInventory(b *testing.B) {
	for _, c := range [][2]int{{1, 10}, {100, 10}, {100, 100}} {
		text := host(b, c[0], c[1]).AppendJSON(nil)
		b.Run(fmt.Sprintf("cartridges=%d/caps=%d", c[0], c[1]), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := manifest.ParseInventory(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFollower reads inventories of 100 cartridges with 100 caps each, of which some differ from the one
// before in their figures.
func BenchmarkFollower(b *testing.B) {
	for _, changed := range []int{0, 1, 100} {
		b.Run(fmt.Sprintf("changed=%d", changed), func(b *testing.B) {
			var texts [2][]byte
			for i := range texts {
				v := host(b, 100, 100)
				for j := range changed {
					count(&v.Records[j], uint64(3+i))
				}
				texts[i] = v.AppendJSON(nil)
			}
			var f manifest.Follower
			b.SetBytes(int64(len(texts[0])))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, change, err := f.Read(texts[i%2]); err != nil || i > 0 && change != (manifest.Change{}) {
					b.Fatal(change, err)
				}
			}
		})
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	v := host(b, 100, 10)
	var text []byte
	b.ReportAllocs()
	for b.Loop() {
		text = v.AppendJSON(text[:0])
	}
	b.SetBytes(int64(len(text)))
}

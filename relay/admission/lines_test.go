package admission

import (
	"fmt"
	"testing"

	"github.com/cosim-go/cosim/relay/manifest"
)

// Caps that are gone leave nothing behind.
func TestLinesOfFormerCaps(t *testing.T) {
	c := New(nil)
	for i := range 100 {
		name := fmt.Sprint("cap:op=o", i)
		c.Configure(manifest.Pools{name: {}, manifest.PoolAll: {}})
		p, ok := c.TryAcquire(name)
		if !ok {
			t.Fatal("no place")
		}
		c.Configure(nil)
		p.Release()
		if len(c.lines) > 1 {
			t.Fatalf("%d lines, want 1 at most", len(c.lines))
		}
	}
}

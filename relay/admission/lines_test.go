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

// A place that is given to somebody who has just gone is given back.
func TestAbandonedPlace(t *testing.T) {
	const name = "cap:a"
	c := New(manifest.Pools{name: {Configured: 1}, manifest.PoolAll: {}})
	p, _ := c.TryAcquire(name)
	_, w, err := c.enter(name)
	if w == nil || err != nil {
		t.Fatal("let in, or not in line: ", err)
	}
	p.Release()
	if w.permit == nil {
		t.Fatal("not let in")
	}
	c.abandon(w)
	if got := c.Pools()[name].Active; got != 0 {
		t.Errorf("%d active, want none", got)
	}
}

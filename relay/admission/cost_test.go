package admission_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/cosim-go/cosim/relay/admission"
	"github.com/cosim-go/cosim/relay/manifest"
)

func TestAcquireAllocatesThePermitAlone(t *testing.T) {
	ctx := t.Context()
	c := admission.New(poolsOf(map[string]bounds{capA: {n: 2}, "gpu": {4, []string{capA}}, "all": {n: 8}}))
	if n := testing.AllocsPerRun(100, func() {
		p, err := c.Acquire(ctx, capA)
		if err != nil {
			t.Fatal(err)
		}
		p.Release()
	}); n > 1 {
		t.Errorf("Acquire and Release allocate %v times, want once at most", n)
	}
}

// Whatever many goroutines do at once, bounds hold and all places are free at the end.
func TestManyAtOnce(t *testing.T) {
	c := admission.New(poolsOf(map[string]bounds{
		capA: {n: 2}, capB: {}, capC: {n: 1}, "p": {2, []string{capA, capB}}, "q": {2, []string{capB, capC}}, "all": {n: 3},
	}))
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 200 {
				p, err := c.Acquire(t.Context(), []string{capA, capB, capC}[i%3])
				if err != nil {
					t.Error(err)
					return
				}
				for name, s := range c.Pools() {
					if bound := s.Effective(); bound > 0 && s.Active > bound {
						t.Errorf("%d in %s, want at most %d", s.Active, name, bound)
					}
				}
				p.Release()
			}
		})
	}
	wg.Wait()
	for name, s := range c.Pools() {
		if s.Active+s.Queued > 0 {
			t.Errorf("%s at the end: %+v", name, s)
		}
	}
}

func BenchmarkAcquire(b *testing.B) {
	ctx := b.Context()
	for _, n := range []int{1, 10_000} {
		p := manifest.Pools{"all": {}, "gpu": {Caps: []string{capA}}, capA: {Configured: 4}}
		for i := range n {
			p[fmt.Sprintf("cap:c%d;effect=none", i)] = manifest.PoolState{}
		}
		c := admission.New(p)
		b.Run(fmt.Sprintf("caps=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, err := c.Acquire(ctx, capA)
				if err != nil {
					b.Fatal(err)
				}
				p.Release()
			}
		})
	}
}

// BenchmarkAcquireInTurn is one request that waits for the place of another.
func BenchmarkAcquireInTurn(b *testing.B) {
	c := admission.New(poolsOf(map[string]bounds{capA: {n: 1}, "all": {}}))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p, err := c.Acquire(b.Context(), capA)
			if err != nil {
				b.Error(err)
				return
			}
			p.Release()
		}
	})
}

func BenchmarkConfigure(b *testing.B) {
	p := manifest.Pools{"all": {}}
	for i := range 10_000 {
		p[fmt.Sprintf("cap:c%d;effect=none", i)] = manifest.PoolState{}
	}
	c := admission.New(p)
	b.ReportAllocs()
	for b.Loop() {
		c.Configure(p)
	}
}

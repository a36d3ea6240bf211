package admission_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosim-go/cosim/relay/admission"
	"github.com/cosim-go/cosim/relay/manifest"
)

// A twin is a controller by the words of the package comment, with a list of requests in the order in which they came.
type twin struct {
	pools    manifest.Pools
	requests []*twinRequest
	away     time.Time // when an outage began; zero in none
}

type twinRequest struct {
	id  int
	cap string
	in  bool
}

func (w *twin) active(pool string) (n uint64) {
	for _, r := range w.requests {
		if r.in && slices.Contains(w.chain(r.cap), pool) {
			n++
		}
	}
	return n
}

// chain returns the pools that a cap's requests count in; those of a cap without its own pool count in all.
func (w *twin) chain(cap string) (chain []string) {
	for name, s := range w.pools {
		if name == cap || name == "all" || w.has(cap) && slices.Contains(s.Caps, cap) {
			chain = append(chain, name)
		}
	}
	return chain
}

func (w *twin) has(cap string) bool {
	_, own := w.pools[cap]
	_, all := w.pools["all"]
	return own && all
}

// settle lets in who is let in now, and returns them and those who fail.
func (w *twin) settle(now time.Time) (in []int, failed map[int]error) {
	failed = map[int]error{}
	w.requests = slices.DeleteFunc(w.requests, func(r *twinRequest) bool {
		if !r.in && !w.has(r.cap) {
			failed[r.id] = admission.ErrNoPool
		} else if !r.in && !w.away.IsZero() && now.Sub(w.away) >= admission.DefaultGrace {
			failed[r.id] = admission.ErrUnavailable
		}
		return failed[r.id] != nil
	})
	for w.away.IsZero() {
		next := w.next()
		if next == nil {
			break
		}
		next.in = true
		in = append(in, next.id)
	}
	return in, failed
}

// next returns the request that is let in next, nil for none.
func (w *twin) next() *twinRequest {
	kept, seen := map[string]uint64{}, map[string]bool{}
	room := func(pool string, kept uint64) bool {
		bound := w.pools[pool].Effective()
		return bound == 0 || w.active(pool)+kept < bound
	}
	for _, r := range w.requests {
		if r.in || seen[r.cap] {
			continue
		}
		seen[r.cap] = true
		fits := true
		for _, pool := range w.chain(r.cap) {
			fits = fits && room(pool, kept[pool])
		}
		if fits {
			return r
		}
		if room(r.cap, 0) {
			for _, pool := range w.chain(r.cap) {
				if pool != r.cap && pool != "all" {
					kept[pool]++
				}
			}
		}
	}
	return nil
}

// randomPools returns pools of some of the caps, with small bounds.
func randomPools(rng *rand.Rand, table []string) manifest.Pools {
	p := manifest.Pools{}
	state := func(members ...string) manifest.PoolState {
		s := manifest.PoolState{Configured: rng.Uint64N(4), Caps: members}
		if rng.IntN(3) == 0 {
			n := rng.Uint64N(3)
			s.Available = &n
		}
		return s
	}
	for _, cap := range table {
		if rng.IntN(10) > 0 {
			p[cap] = state()
		}
	}
	for _, name := range []string{"p", "q", "r"}[:rng.IntN(4)] {
		var members []string
		for _, cap := range table {
			if rng.IntN(2) == 0 {
				members = append(members, cap)
			}
		}
		p[name] = state(members...)
	}
	if rng.IntN(20) > 0 {
		p["all"] = state(table...)
	}
	return p
}

func TestAgainstTwin(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { againstTwin(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func againstTwin(t *testing.T, rng *rand.Rand) {
	table := []string{capA, capB, capC, "cap:d;effect=none", "cap:e;effect=none"}[:1+rng.IntN(5)]
	model := &twin{pools: randomPools(rng, table)}
	c := newCrowd(t, model.pools)
	for step := range 300 {
		did := randomStep(rng, c, model, table, step)
		synctest.Wait()
		in, failed := model.settle(time.Now())
		compare(t, c, model, fmt.Sprintf("step %d, %s", step, did), in, failed)
		if t.Failed() {
			return
		}
	}
	c.c.Close()
}

// randomStep does the same to a controller and its twin.
func randomStep(rng *rand.Rand, c *crowd, model *twin, table []string, step int) string {
	pick := func(in bool) (i int, name string) {
		i = rng.IntN(max(1, len(model.requests)))
		if i < len(model.requests) && model.requests[i].in == in {
			return i, fmt.Sprint(model.requests[i].id)
		}
		return 0, ""
	}
	switch n := rng.IntN(100); {
	case n < 40:
		cap := table[rng.IntN(len(table))]
		model.requests = append(model.requests, &twinRequest{id: step, cap: cap})
		c.ask(fmt.Sprint(step), cap)
		return "ask for " + cap
	case n < 65:
		if i, name := pick(true); name != "" {
			model.requests = slices.Delete(model.requests, i, i+1)
			c.permits[name].Release()
			return "release " + name
		}
	case n < 80:
		if i, name := pick(false); name != "" {
			model.requests = slices.Delete(model.requests, i, i+1)
			c.cancel[name]()
			return "cancel " + name
		}
	case n < 85:
		return tryBoth(c, model, table[rng.IntN(len(table))], step)
	case n < 90:
		model.pools = randomPools(rng, table)
		c.c.Configure(model.pools)
		return "configure"
	case n < 94:
		name, n := []string{table[0], "p", "all"}[rng.IntN(3)], rng.Uint64N(4)
		if s, ok := model.pools[name]; ok {
			s.Configured = n
			model.pools[name] = s
		}
		c.c.SetConfigured(map[string]uint64{name: n})
		return "set a bound"
	case n < 96:
		if model.away.IsZero() {
			model.away = time.Now()
		}
		c.c.Suspend()
		return "suspend"
	case n < 99:
		model.away = time.Time{}
		c.c.Resume()
		return "resume"
	default:
		time.Sleep(time.Duration(rng.IntN(40)) * time.Second)
		return "wait"
	}
	return "nothing"
}

func tryBoth(c *crowd, model *twin, cap string, step int) string {
	p, ok := c.c.TryAcquire(cap)
	r := &twinRequest{id: step, cap: cap}
	model.requests = append(model.requests, r)
	if model.settle(time.Now()); r.in != ok {
		c.t.Errorf("TryAcquire(%s) = %v, want %v", cap, ok, r.in)
	}
	model.requests = slices.DeleteFunc(model.requests, func(o *twinRequest) bool { return o == r && !r.in })
	if ok {
		c.permits[fmt.Sprint(step)] = p
	}
	return "try " + cap
}

func compare(t *testing.T, c *crowd, model *twin, did string, in []int, failed map[int]error) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, id := range in {
		names = append(names, fmt.Sprint(id))
	}
	slices.Sort(names)
	slices.Sort(c.in)
	if !slices.Equal(names, c.in) {
		t.Errorf("%s: let in %q, want %q", did, c.in, names)
	}
	c.in = nil
	maps.DeleteFunc(c.errs, func(_ string, err error) bool { return errors.Is(err, context.Canceled) })
	for id, want := range failed {
		if got := c.errs[fmt.Sprint(id)]; got != want {
			t.Errorf("%s: request %d got %v, want %v", did, id, got, want)
		}
	}
	if len(c.errs) != len(failed) {
		t.Errorf("%s: failed %v, want %v", did, c.errs, failed)
	}
	clear(c.errs)
	for name, s := range c.c.Pools() {
		if want := model.active(name); s.Active != want {
			t.Errorf("%s: %d active in %s, want %d", did, s.Active, name, want)
		}
	}
}

package admission

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/manifest"
)

// Configure replaces the pools. What they say of active and queued requests does not count: requests that were
// let in keep their places in the pools that their caps have now, also above a bound, and those who wait go on
// waiting. Who fits now is let in. Requests for a cap that lost its pool fail with ErrNoPool. It does not
// keep p.
func (c *Controller) Configure(p manifest.Pools) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pools = make(map[string]*pool, len(p))
	for _, l := range c.lines {
		l.chain, l.known = l.chain[:0], false
	}
	for name, s := range p.Clone() {
		c.pools[name] = &pool{state: s, bound: s.Effective()}
	}
	c.all = c.pools[manifest.PoolAll]
	c.chain()
	c.settle()
	c.walk()
}

// chain puts each pool into the chains of its caps.
func (c *Controller) chain() {
	for name, p := range c.pools {
		if manifest.IsCapName(name) {
			l := c.lines[name]
			if l == nil {
				l = &line{}
				c.lines[name] = l
			}
			l.chain, l.known = append(l.chain, p), c.all != nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.pools)) {
		if p := c.pools[name]; p != c.all && !manifest.IsCapName(name) {
			for _, member := range p.state.Caps {
				if l := c.lines[member]; l != nil && l.known && l.chain[len(l.chain)-1] != p {
					l.chain = append(l.chain, p)
				}
			}
		}
	}
	if c.all != nil {
		for _, l := range c.lines {
			l.chain = append(l.chain, c.all)
		}
	}
}

// settle counts the active requests of each pool, and drops the lines of caps without a pool.
func (c *Controller) settle() {
	for name, l := range c.lines {
		for _, p := range l.chain {
			p.active += l.active
		}
		if l.known {
			continue
		}
		if l.first != nil {
			c.removeHead(l)
			l.fail(ErrNoPool)
		}
		if l.active == 0 {
			delete(c.lines, name)
		}
	}
}

// Pools returns the pools, with the requests that are active and those that wait: in a cap's own pool all for that
// cap, in another those whose own pool has room and that one has not.
func (c *Controller) Pools() manifest.Pools {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := make(manifest.Pools, len(c.pools))
	for name, pool := range c.pools {
		s := pool.state
		s.Active = pool.active
		if l := c.lines[name]; l != nil {
			s.Queued = l.waiting
		} else {
			s.Queued = c.queued(pool)
		}
		p[name] = s
	}
	return p.Clone()
}

// queued returns how many wait for a shared pool.
func (c *Controller) queued(p *pool) uint64 {
	var n uint64
	if p.room() {
		return 0
	}
	for _, l := range c.heads {
		if l.chain[0].room() && slices.Contains(l.chain, p) {
			n += l.waiting
		}
	}
	return n
}

// SetAvailable sets what the cartridge can serve in a pool now, by its own account; 0 is no bound. It fails with
// ErrUnknownPool. The pool of a cap may be spelled in any way.
func (c *Controller) SetAvailable(pool string, n uint64) error {
	return c.set(map[string]uint64{pool: n}, func(s *manifest.PoolState, n uint64) {
		s.Available = nil
		if n > 0 {
			s.Available = &n
		}
	})
}

// SetConfigured sets the operator's numbers of some pools, 0 for no bound. When one of them is unknown it fails with
// ErrUnknownPool, and when one occurs in two spellings it fails too; it changes nothing then. The pools of caps may
// be spelled in any way.
func (c *Controller) SetConfigured(n map[string]uint64) error {
	return c.set(n, func(s *manifest.PoolState, n uint64) { s.Configured = n })
}

func (c *Controller) set(numbers map[string]uint64, change func(*manifest.PoolState, uint64)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := make(map[*pool]string, len(numbers))
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		p := c.pool(name)
		if p == nil {
			return fmt.Errorf("%w %q", ErrUnknownPool, name)
		}
		if _, twice := names[p]; twice {
			return fmt.Errorf("pool %q occurs twice, in two spellings", name)
		}
		names[p] = name
	}
	for p, name := range names {
		change(&p.state, numbers[name])
		p.bound = p.state.Effective()
	}
	c.walk()
	return nil
}

// pool returns the pool of a name, nil when there is none.
func (c *Controller) pool(name string) *pool {
	if p := c.pools[name]; p != nil || !manifest.IsCapName(name) {
		return p
	}
	parsed, err := caps.Parse(name)
	if err != nil {
		return nil
	}
	return c.pools[parsed.String()]
}

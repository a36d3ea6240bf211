package route

import (
	"context"
	"errors"
	"time"

	"github.com/cosim-go/cosim/relay/admission"
	"github.com/cosim-go/cosim/relay/manifest"
)

// A pool lets requests of the engine in to one install on one master. It outlives the master's links.
type pool struct {
	control *admission.Controller
	away    time.Time // since when the install is not offered; zero while it is
}

// A place is what a request has in a pool; the zero place is none.
type place struct {
	pool   *pool
	urn    string // of the cap
	permit *admission.Permit
}

// leave gives the place back.
func (p *place) leave() {
	if p.permit != nil {
		p.permit.Release()
	}
	*p = place{}
}

// errDissolved says that a pool does not let anybody in any more because its install has no bound now.
var errDissolved = errors.New("the pool was dissolved")

// moveTo gives a request a place in a pool, and waits for it, unless it has it already. It gives back the one that the
// request had. A nil pool has room for all.
func (s *Switch) moveTo(ctx context.Context, p *place, to *pool, urn string) error {
	if p.pool == to && p.urn == urn {
		return nil
	}
	p.leave()
	if to == nil {
		return nil
	}
	permit, ok := to.control.TryAcquire(urn)
	if !ok {
		var err error
		if permit, err = s.acquire(ctx, to, urn); err != nil {
			return err
		}
	}
	*p = place{to, urn, permit}
	return nil
}

func (s *Switch) acquire(ctx context.Context, to *pool, urn string) (*admission.Permit, error) {
	ctx, done := s.within(ctx)
	defer done()
	permit, err := to.control.Acquire(ctx, urn)
	switch {
	case errors.Is(err, admission.ErrClosed):
		return nil, errDissolved
	case errors.Is(err, admission.ErrNoPool):
		return nil, errorf(ErrProtocol, "the host has announced no pool for %s", urn)
	case errors.Is(err, admission.ErrUnavailable):
		return nil, coded(ErrCartridgeUnavailable, codeUnavailable, "the cartridge that serves %s is away", urn)
	}
	return permit, err
}

// configure brings the pools of a master in line with what its host offers. While the master is not healthy nobody is
// let in. mu is held.
func (s *Switch) configure(m *master) {
	offered := map[manifest.Install]bool{}
	for _, o := range m.offer.inventory.Offers() {
		offered[o.Install] = true
		s.offerPool(m, o)
	}
	for install, p := range m.pools {
		switch {
		case offered[install] && m.healthy:
			p.resume()
		case p.away.IsZero():
			p.suspend()
		case !offered[install] && time.Since(p.away) > s.options.Grace && p.idle():
			p.control.Close()
			delete(m.pools, install)
		}
	}
}

func (s *Switch) offerPool(m *master, o manifest.Offer) {
	p := m.pools[o.Install]
	switch {
	case o.Pools == nil && p != nil: // no bound any more
		p.control.Close()
		delete(m.pools, o.Install)
	case o.Pools == nil:
	case p == nil:
		p = &pool{control: admission.New(o.Pools)}
		p.control.Grace = s.options.Grace
		m.pools[o.Install] = p
	default:
		p.control.Configure(o.Pools)
	}
}

// resume ends the outage of a pool, if there is one.
func (p *pool) resume() {
	if !p.away.IsZero() {
		p.away = time.Time{}
		p.control.Resume()
	}
}

// suspend begins the outage of a pool.
func (p *pool) suspend() {
	p.away = time.Now()
	p.control.Suspend()
}

// idle reports whether nobody is in the pool or waits for it.
func (p *pool) idle() bool {
	for _, state := range p.control.Pools() {
		if state.Active > 0 || state.Queued > 0 {
			return false
		}
	}
	return true
}

// suspend begins the outage of all pools of a master that was lost.
func (m *master) suspend() {
	for _, p := range m.pools {
		if p.away.IsZero() {
			p.suspend()
		}
	}
}

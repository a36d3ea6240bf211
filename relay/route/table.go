package route

import (
	"slices"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// A routes is one state of the cap table: the caps of all healthy masters, in the order of the masters, and of
// each in the order of its manifest. It never changes.
type routes struct {
	index      *caps.Index
	entries    []entry // in the places of the index
	cartridges map[string]*cartridge
	offered    []string // the texts of the caps, sorted, each once
	healthy    int      // masters
	masters    int
	closed     bool // the switch is
}

// An entry is a cap of the table, and who serves it.
type entry struct {
	index int // of the master
	link  *link
	urn   string
	pool  *pool // that lets requests of the engine in; nil for no bound
	err   error // why requests of the engine cannot be let in
}

// A cartridge is an installed one that requests can name.
type cartridge struct {
	index int // of the master
	link  *link
	pool  *pool
	caps  []*caps.Cap
}

// newRoutes makes the table of some masters, of which the unhealthy are passed over.
func newRoutes(masters []*master) *routes {
	rt := &routes{cartridges: map[string]*cartridge{}, masters: len(masters)}
	var table []*caps.Cap
	for _, m := range masters {
		if !m.healthy || m.link == nil {
			continue
		}
		rt.healthy++
		owners := m.offer.inventory.Owners()
		for _, c := range m.offer.inventory.Caps {
			table = append(table, c)
			rt.entries = append(rt.entries, m.entry(c.String(), owners[c.String()]))
			rt.offered = append(rt.offered, c.String())
		}
		rt.list(m)
	}
	slices.Sort(rt.offered)
	rt.offered = slices.Compact(rt.offered)
	rt.index = caps.NewIndex(table)
	return rt
}

func (m *master) entry(urn string, owners []manifest.Install) entry {
	e := entry{index: m.index, link: m.link, urn: urn}
	switch len(owners) {
	case 0: // a cap without a record
	case 1:
		e.pool = m.pools[owners[0]]
	default:
		e.err = errorf(ErrProtocol, "master %d (%q): %s is ambiguous: %s and %s claim it",
			m.index, m.id, urn, owners[0], owners[1])
	}
	return e
}

// list adds the cartridges of a master. Of several with one id the first counts.
func (rt *routes) list(m *master) {
	records := m.offer.inventory.Records
	for i := range records {
		r := &records[i]
		if r.AttachmentError != nil || rt.cartridges[r.Install.ID] != nil {
			continue
		}
		c := &cartridge{index: m.index, link: m.link, pool: m.pools[r.Install]}
		for described := range r.Caps() {
			c.caps = append(c.caps, described.URN)
		}
		rt.cartridges[r.Install.ID] = c
	}
}

// find returns who serves a request for a cap: the master that lists a cartridge, if one is named, or the best by
// cap.
func (rt *routes) find(cap, preferred, named string) (entry, error) {
	switch {
	case rt.closed:
		return entry{}, errClosed
	case named != "":
		return rt.findCartridge(named, cap)
	}
	place, ok := rt.index.Find(cap, preferred)
	switch {
	case ok:
		return rt.entries[place], nil
	case rt.masters > 0 && rt.healthy == 0:
		return entry{}, coded(ErrAllMastersUnhealthy, codeNoHandler, "no master is healthy")
	}
	return entry{}, coded(ErrNoHandler, codeNoHandler, "nobody serves %s", cap)
}

// findCartridge returns the place of a cartridge. It is let in through the pools of the best of its caps.
func (rt *routes) findCartridge(id, cap string) (entry, error) {
	c := rt.cartridges[id]
	if c == nil {
		return entry{}, coded(ErrNoHandler, codeNoHandler, "no healthy master lists the cartridge %q", id)
	}
	e := entry{index: c.index, link: c.link}
	if request, err := caps.Parse(cap); err == nil {
		if ranked := caps.Rank(request, c.caps); len(ranked) > 0 {
			e.urn, e.pool = c.caps[ranked[0].Place].String(), c.pool
		}
	}
	return e, nil
}

// findPeer is find for a REQ of a cartridge.
func (rt *routes) findPeer(f *frame.Frame) (*link, bool) {
	if target := f.ReqInfo().TargetCartridge; target != nil {
		c := rt.cartridges[string(target)]
		if c == nil {
			return nil, false
		}
		return c.link, true
	}
	place, ok := rt.index.FindBytes(f.Cap, "")
	if !ok {
		return nil, false
	}
	return rt.entries[place].link, true
}

// rebuild makes the table anew and wakes who watches. mu is held.
func (s *Switch) rebuild() {
	rt := newRoutes(s.masters)
	rt.closed = s.closed
	s.routes.Store(rt)
	s.wake()
}

// wake wakes all who wait for a change of what is offered or healthy. mu is held.
func (s *Switch) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Find returns the index of the master that a request for a cap would go to now, and the cap that it serves it by.
// A preferred cap, unless it is "", comes before all others that can serve the request.
func (s *Switch) Find(cap, preferred string) (index int, registered string, ok bool) {
	rt := s.routes.Load()
	place, ok := rt.index.Find(cap, preferred)
	if !ok {
		return 0, "", false
	}
	return rt.entries[place].index, rt.entries[place].urn, true
}

// Limits returns what all healthy masters can take: the smallest of each of their limits, and the defaults when
// none is healthy.
func (s *Switch) Limits() frame.Limits {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, any := frame.Limits{}, false
	for _, m := range s.masters {
		switch {
		case !m.healthy:
		case any:
			l = l.Min(m.offer.limits)
		default:
			l, any = m.offer.limits, true
		}
	}
	if !any {
		return frame.DefaultLimits()
	}
	return l
}

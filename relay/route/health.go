package route

import (
	"cmp"
	"slices"
	"time"

	"github.com/cosim-go/cosim/relay/manifest"
)

// A MasterHealth is how a master is.
type MasterHealth struct {
	Index            int     `json:"index"`
	ID               string  `json:"id"`
	Attached         bool    `json:"attached"`          // its socket is read
	Healthy          bool    `json:"healthy"`           // what its host offers is routed to
	Caps             int     `json:"caps"`              // that its host announced last
	ConnectedSeconds float64 `json:"connected_seconds"` // 0 for one that is not attached
	LastError        *string `json:"last_error"`        // why it is not healthy; nil when it is
}

// Health returns how the masters are, in the order of their indices. It waits for nobody.
func (s *Switch) Health() []MasterHealth {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]MasterHealth, len(s.masters))
	for i, m := range s.masters {
		h := MasterHealth{Index: i, ID: m.id, Attached: m.link != nil, Healthy: m.healthy, Caps: len(m.offer.inventory.Caps)}
		if h.Attached {
			h.ConnectedSeconds = time.Since(m.since).Seconds()
		}
		if m.lastError != nil {
			text := m.lastError.Error()
			h.LastError = &text
		}
		all[i] = h
	}
	return all
}

// Inventory returns the cartridges that all masters have announced last, whether healthy or not, in the order of
// their installs. Of several records of the same install the first counts, in the order of the masters. The records are
// not to be changed.
func (s *Switch) Inventory() []manifest.Record {
	s.mu.Lock()
	var all []manifest.Record
	for _, m := range s.masters {
		all = append(all, m.offer.inventory.Records...)
	}
	s.mu.Unlock()
	slices.SortStableFunc(all, func(a, b manifest.Record) int { return compareInstalls(a.Install, b.Install) })
	return slices.CompactFunc(all, func(a, b manifest.Record) bool { return a.Install == b.Install })
}

// compareInstalls orders by where it was published, nowhere first, then channel, id, version and hash.
func compareInstalls(a, b manifest.Install) int {
	switch {
	case a.HasRegistry != b.HasRegistry && a.HasRegistry:
		return 1
	case a.HasRegistry != b.HasRegistry:
		return -1
	}
	return cmp.Or(
		cmp.Compare(a.Registry, b.Registry),
		cmp.Compare(a.Channel, b.Channel),
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.Version, b.Version),
		cmp.Compare(a.SHA256, b.SHA256),
	)
}

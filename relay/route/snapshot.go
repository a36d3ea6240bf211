package route

import (
	"encoding/json"
	"time"

	"github.com/cosim-go/cosim/relay/stats"
)

// Stats returns what the switch carries, has carried and has lost, and what the hosts tell of themselves.
func (s *Switch) Stats() stats.Switch {
	now := time.Now()
	out := stats.Switch{
		Drops:      s.counters.Drops(),
		Stragglers: s.counters.Stragglers(),
		Hosts:      map[string]stats.Host{},
	}
	reported := map[string]json.RawMessage{}
	s.mu.Lock()
	out.Requests = stats.Requests{
		Active:           make([]stats.Active, 0, len(s.requests)),
		RecentTerminated: s.history.Recent(),
		TotalRegistered:  s.total,
		TerminatedByKind: s.history.ByKind(),
	}
	for _, r := range s.requests {
		out.Requests.Active = append(out.Requests.Active, r.snapshot(now))
	}
	for _, m := range s.masters {
		if raw := m.offer.inventory.HostStats; raw != nil {
			reported[m.id] = raw
		}
	}
	s.mu.Unlock()
	for id, raw := range reported {
		var h stats.Host
		if json.Unmarshal(raw, &h) == nil {
			out.Hosts[id] = h
		}
	}
	out.Requests.Sort()
	return out
}

// snapshot returns the figures of a request. mu is held.
func (r *request) snapshot(now time.Time) stats.Active {
	a := stats.Active{
		XID: r.xid, RID: r.rid, Phase: stats.PhaseCreated, IsPeer: r.origin != nil, CapURN: r.urn,
		DestinationMaster: r.dest.master.index,
		AgeMS:             milliseconds(now.Sub(r.registered)),
		IdleMS:            milliseconds(now.Sub(r.touched)),
		Children:          r.children,
		Streams:           r.traffic.snapshot(),
	}
	if r.all.framesIn+r.all.framesOut > 0 {
		a.Phase = stats.PhaseStreaming
	}
	if r.origin != nil {
		index := r.origin.master.index
		a.OriginMaster = &index
	}
	return a
}

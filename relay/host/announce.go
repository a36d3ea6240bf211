package host

import (
	"encoding/json"
	"slices"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/stats"
)

// announce tells the switch what the host has. Where the last announcement still waits to be written, it is left to the
// next tick.
func (h *Host) announce() {
	r := h.relay
	if r == nil {
		return
	}
	if r.notes.Waits() {
		r.out.Flush()
	}
	if h.stale = r.notes.Waits(); h.stale {
		h.arm()
		return
	}
	before := r.out.Queued()
	f, err := frame.NewRelayNotify(h.notify())
	if err == nil {
		err = r.out.Send(&f)
	}
	if err != nil {
		h.options.Logger.Error("the host cannot be announced", "error", err)
		return
	}
	r.notes.Sent(max(r.out.Queued()-before, 1))
	h.feed(r.out)
}

// notify returns what is announced now.
func (h *Host) notify() frame.Notify {
	counters, _ := json.Marshal(h.stats())
	inventory := manifest.NewInventory(h.records(), counters)
	return frame.Notify{Manifest: inventory.AppendJSON(nil), Limits: h.limits()}
}

// Inventory returns the records of all cartridges, as they are announced.
func (h *Host) Inventory() []manifest.Record {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.records()
}

func (h *Host) records() []manifest.Record {
	requests, calls := map[*cartridge]uint64{}, map[*cartridge]uint64{}
	for _, r := range h.incoming {
		requests[r.owner]++
	}
	for _, c := range h.outgoing {
		calls[c.owner]++
	}
	records := make([]manifest.Record, 0, len(h.cartridges)+len(h.static))
	for _, c := range h.cartridges {
		if c.removed {
			continue
		}
		r := c.record()
		r.Stats.ActiveRequests, r.Stats.PeerRequests = requests[c], calls[c]
		records = append(records, r)
	}
	return append(records, h.static...)
}

// record returns the record of a cartridge, without the numbers of its requests.
func (c *cartridge) record() manifest.Record {
	r := manifest.Record{
		Install: c.install, Groups: slices.Clone(c.groups), AttachmentError: c.failure,
		Stats: &manifest.RuntimeStats{Pools: manifest.Pools{}, Restarts: c.restarts},
	}
	if c.failure != nil {
		r.Groups = nil
	}
	if !c.lastHeartbeat.IsZero() {
		seconds := c.lastHeartbeat.Unix()
		r.Stats.LastHeartbeat = &seconds
	}
	switch c.phase {
	case starting:
		r.Lifecycle = manifest.LifecycleVerifying
	case running:
		r.Lifecycle = manifest.LifecycleOperational
		c.process.describe(r.Stats)
	}
	return r
}

// describe tells what is known of a process that runs.
func (p *process) describe(s *manifest.RuntimeStats) {
	s.Running, s.Pools = true, p.pools
	if pid := uint64(p.pid()); pid > 0 {
		s.PID = &pid
	}
	s.FootprintMB, s.RSSMB = p.footprintMB, p.rssMB
	s.Drops, s.Stragglers, s.Overruns = p.drops, p.stragglers, p.overruns
}

// Limits returns what the host announces: the smallest limits of the cartridges that run, those of the options while none
// does.
func (h *Host) Limits() frame.Limits {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.limits()
}

func (h *Host) limits() frame.Limits {
	l := h.options.Limits
	for _, c := range h.cartridges {
		if c.phase == running {
			l = l.Min(c.process.limits)
		}
	}
	return l
}

// Stats returns what the host counts.
func (h *Host) Stats() stats.Host {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stats()
}

func (h *Host) stats() stats.Host {
	return stats.Host{
		Drops: h.counted.Drops(), Stragglers: h.counted.Stragglers(),
		OutgoingRIDs: uint64(len(h.outgoing)), IncomingRXIDs: uint64(len(h.incoming)), IncomingToPeerRIDs: uint64(h.parents()),
		OutgoingMaxSeq: uint64(len(h.flows)), RoutingGCRuns: h.sweeps, RoutingGCEvicted: h.evicted,
	}
}

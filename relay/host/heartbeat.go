package host

import (
	"fmt"
	"time"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// A probe is a heartbeat that was not answered yet.
type probe struct {
	limit   *time.Timer
	desired bool // it says what the operator wants of the pools
}

// newProbe returns a heartbeat with a fresh id, which has to be answered in time.
func (p *process) newProbe(hb frame.Heartbeat) *frame.Frame {
	id := frame.NewUUID()
	f, err := frame.NewHeartbeat(id, hb)
	if err != nil {
		p.h.options.Logger.Error("a heartbeat that cannot be written", "cartridge", p.cart.install.ID, "error", err)
		return nil
	}
	limit := p.h.options.HeartbeatLimit
	p.probes[id] = &probe{
		limit:   time.AfterFunc(limit, func() { p.unanswered(id) }),
		desired: hb.DesiredCapacities != nil,
	}
	return &f
}

// unanswered ends a process that did not answer a heartbeat.
func (p *process) unanswered(id frame.ID) {
	h := p.h
	h.mu.Lock()
	defer h.unlock()
	pr := p.probes[id]
	if pr == nil {
		return
	}
	if p.unread || time.Since(p.readSince) < h.options.HeartbeatLimit { // the answer may be in what was not read
		pr.limit.Reset(h.options.HeartbeatLimit)
	} else {
		h.doom(p, unhealthy(fmt.Sprintf("did not answer a heartbeat within %v", h.options.HeartbeatLimit)))
	}
}

// answered forgets a probe, and returns it; nil when there is none with that id.
func (p *process) answered(id frame.ID) *probe {
	pr := p.probes[id]
	if pr != nil {
		pr.limit.Stop()
		delete(p.probes, id)
	}
	return pr
}

// endProbes forgets all probes.
func (p *process) endProbes() {
	for id := range p.probes {
		p.answered(id)
	}
}

// heartbeat takes in a HEARTBEAT of the cartridge: an answer, or a probe of its own.
func (p *process) heartbeat(f *frame.Frame) error {
	if p.answered(f.ID) == nil {
		p.reply(f.ID)
		return nil
	}
	p.cart.lastHeartbeat = time.Now()
	if !f.Meta.IsSet() {
		return nil
	}
	hb, err := f.Heartbeat()
	if err != nil {
		return err
	}
	pools, err := manifest.PoolsOf(hb.Pools, hb.HandlerCapacity, p.table)
	if err != nil {
		return fmt.Errorf("the pools in its answer to a heartbeat: %w", err)
	}
	p.pools = pools
	p.figures.take(hb)
	return nil
}

// take takes in what an answer has of the figures.
func (f *figures) take(hb frame.Heartbeat) {
	f.footprintMB = hb.FootprintMB.Or(f.footprintMB)
	f.rssMB = hb.RSSMB.Or(f.rssMB)
	for _, n := range []struct {
		into **uint64
		from frame.Optional[uint64]
	}{{&f.drops, hb.Drops}, {&f.stragglers, hb.Stragglers}, {&f.overruns, hb.Overruns}} {
		if v, ok := n.from.Get(); ok {
			*n.into = &v
		}
	}
}

// reply answers a cartridge's own probe.
func (p *process) reply(id frame.ID) {
	if p.out == nil {
		return
	}
	if f, err := frame.NewHeartbeat(id, frame.Heartbeat{}); err == nil {
		p.send(&f)
	}
}

// refused reports whether an ERR is the answer to a probe: the cartridge does not take what the operator wants of its pools. The
// probe counts as answered.
func (p *process) refused(head *frame.Head) bool {
	pr := p.answered(head.ID)
	if pr == nil {
		return false
	}
	h := p.h
	p.cart.lastHeartbeat = time.Now()
	if pr.desired {
		p.cart.desired, p.told.desired = nil, ""
	}
	h.happened(p.cart, Refused, p.pid(), failure(p.in.Frame()).Error())
	return true
}

// beat probes all cartridges that run, and announces what they said.
func (h *Host) beat() {
	h.mu.Lock()
	defer h.unlock()
	for _, c := range h.cartridges {
		if c.phase == running {
			if f := c.process.newProbe(frame.Heartbeat{}); f != nil {
				c.process.send(f)
			}
		}
	}
	h.heartbeats = nil
	if len(h.processes) > 0 && !h.closed {
		h.heartbeats = time.AfterFunc(h.options.HeartbeatEvery, h.beat)
		h.announce()
	}
}

package host

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/cosim-go/cosim/relay/frame"
)

// A policy is a POLICY as it came.
type policy struct {
	frame *frame.Frame
	wire  []byte
}

// takePolicy keeps a POLICY, and hands it down at once.
func (h *Host) takePolicy(f *frame.Frame, wire []byte) {
	h.policy = &policy{f.Clone(), slices.Clone(wire)}
	h.spread()
}

// Policy returns the newest POLICY of the switch, nil before the first. It must not be changed.
func (h *Host) Policy() *frame.Frame {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.policy == nil {
		return nil
	}
	return h.policy.frame
}

// takeState keeps the payload of a RELAY_STATE, and hands it down at once.
func (h *Host) takeState(payload []byte) {
	h.mu.Lock()
	defer h.unlock()
	h.state = payload
	h.states++
	if id, capacities := desiredCapacities(payload); capacities != nil {
		for _, c := range h.cartridges {
			if c.install.ID == id && !bytes.Equal(c.desired, capacities) {
				c.desired = capacities
			}
		}
	}
	h.spread()
}

// desiredCapacities returns what an operator wants of the pools of a cartridge, if a RELAY_STATE payload tells that: a
// JSON object
//
//	{"desired_capacities": {"cartridge_id": "demo", "capacities": {"all": 4}}}
func desiredCapacities(payload []byte) (id string, capacities []byte) {
	var p struct {
		Desired struct {
			ID         string          `json:"cartridge_id"`
			Capacities json.RawMessage `json:"capacities"`
		} `json:"desired_capacities"`
	}
	if json.Unmarshal(payload, &p) != nil || p.Desired.ID == "" || len(p.Desired.Capacities) == 0 {
		return "", nil
	}
	return p.Desired.ID, p.Desired.Capacities
}

// spread tells all cartridges that run what has changed.
func (h *Host) spread() {
	for _, c := range h.cartridges {
		if c.phase != running {
			continue
		}
		policy, probe := c.process.news()
		if policy != nil {
			head := policy.frame.Head()
			c.process.sent(head.Type, c.process.out.Forward(policy.wire[frame.PrefixSize:], &head, frame.ID{}))
		}
		if probe != nil {
			c.process.send(probe)
		}
	}
}

// news returns what a cartridge has to know and was not told yet.
func (p *process) news() (newest *policy, probe *frame.Frame) {
	h, c := p.h, p.cart
	if h.policy != p.told.policy {
		p.told.policy = h.policy
		if h.options.TakesPolicy == nil || h.options.TakesPolicy(c.install) {
			newest = h.policy
		}
	}
	var hb frame.Heartbeat
	if h.states > p.told.states {
		p.told.states = h.states
		hb.ResourceState = h.state
		if h.options.State != nil {
			hb.ResourceState = h.options.State(h.state, c.install)
		}
	}
	if desired := string(c.desired); desired != p.told.desired {
		p.told.desired = desired
		hb.DesiredCapacities = c.desired
	}
	if hb.ResourceState != nil || hb.DesiredCapacities != nil {
		probe = p.newProbe(hb)
	}
	return newest, probe
}

// send queues a frame of the host's own. A probe that cannot be sent needs no answer.
func (p *process) send(f *frame.Frame) {
	err := p.out.Send(f)
	if err != nil {
		p.answered(f.ID)
	}
	p.sent(f.Type, err)
}

// sent takes note that a frame was queued, or why not.
func (p *process) sent(t frame.Type, err error) {
	if err == nil {
		p.h.feed(p.out)
		return
	}
	p.h.options.Logger.Error("a frame that cannot go to a cartridge", "cartridge", p.cart.install.ID, "type", t, "error", err)
}

package host

import (
	"bytes"
	"encoding/json"

	"github.com/cosim-go/cosim/relay/frame"
)

// takePolicy keeps a POLICY, and hands it down at once.
func (h *Host) takePolicy(f *frame.Frame) {
	h.policy = f.Clone()
	h.spread()
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
		for _, f := range c.process.news() {
			c.process.send(f)
		}
	}
}

// news returns what a cartridge has to know and was not told yet.
func (p *process) news() (frames []*frame.Frame) {
	h, c := p.h, p.cart
	if policy := h.policy; policy != nil && policy != p.told.policy {
		p.told.policy = policy
		if h.options.TakesPolicy == nil || h.options.TakesPolicy(c.install) {
			frames = append(frames, policy)
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
		if f := p.newProbe(hb); f != nil {
			frames = append(frames, f)
		}
	}
	return frames
}

// send queues a frame of the host's own.
func (p *process) send(f *frame.Frame) {
	err := p.out.Send(f)
	if err == nil {
		p.h.feed(p.out)
		return
	}
	p.h.options.Logger.Error("a frame that cannot go to a cartridge", "cartridge", p.cart.install.ID, "type", f.Type, "error", err)
}

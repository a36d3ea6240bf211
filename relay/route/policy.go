package route

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/cosim-go/cosim/relay/frame"
)

// A Policy is what the engine tells every host, and each hands down to its cartridges. The relay does not look
// into it.
type Policy struct {
	Meta    frame.Meta
	Payload []byte
}

func (p *Policy) clone() *Policy {
	if p == nil {
		return nil
	}
	return &Policy{p.Meta.Clone(), bytes.Clone(p.Payload)}
}

func (p *Policy) frame() *frame.Frame {
	f := frame.NewPolicy(p.Payload)
	f.Meta = p.Meta
	return &f
}

func (p *Policy) equal(o *Policy) bool {
	if p == nil || o == nil {
		return p == o
	}
	return bytes.Equal(p.Payload, o.Payload) && (p.Payload == nil) == (o.Payload == nil) &&
		bytes.Equal(p.Meta.Raw(), o.Meta.Raw())
}

// SetPolicy makes p the policy that every host gets: those that are there now, healthy or not, and each that comes
// as the first frame after it announced itself. A policy that is no other than the last changes nothing. With nil,
// hosts that come get none; there is no frame that takes one back. SetPolicy keeps nothing of p, and waits for no
// host.
//
// It fails with [frame.ErrEncode] or [frame.ErrFrameTooLarge] for a policy that cannot be written to some host; the
// others have it.
func (s *Switch) SetPolicy(p *Policy) error {
	p = p.clone()
	if p != nil {
		if _, err := p.frame().Append(nil); err != nil {
			return err
		}
	}
	t := s.turn()
	defer s.end(t)
	if s.closed {
		return errClosed
	}
	if p.equal(s.policy) {
		return nil
	}
	s.policy = p
	if p == nil {
		return nil
	}
	var first error
	for l := range s.links {
		if err := l.send(t, p.frame()); frame.KindOf(err) == frame.ErrFrameTooLarge && first == nil {
			first = fmt.Errorf("master %q: %w", l.id, err)
		}
	}
	return first
}

// SendState sends a host what it has to know of its surroundings: a RELAY_STATE with that payload, which nobody on the
// way looks into. It fails with ErrUnknownMaster when no such master is attached, and as a frame that is too long
// does.
func (s *Switch) SendState(masterID string, payload []byte) error {
	t := s.turn()
	defer s.end(t)
	m, err := s.attached(masterID)
	if err != nil {
		return err
	}
	f := frame.NewRelayState(payload)
	return m.link.send(t, &f)
}

// attached returns the master of an id, if it has a link. mu is held.
func (s *Switch) attached(id string) (*master, error) {
	m := s.masterOf(id)
	switch {
	case s.closed:
		return nil, errClosed
	case m == nil || m.link == nil:
		return nil, errorf(ErrUnknownMaster, "no master %q is attached", id)
	}
	return m, nil
}

// SetCapacities asks a host to bound the pools of one of its cartridges anew: n has the numbers by the names of pools,
// 0 for no bound. It sends them as a state; see [Switch.SendState]. A cartridge or a pool that the host has not
// announced is refused with ErrProtocol, and nothing is sent.
func (s *Switch) SetCapacities(masterID, cartridgeID string, n map[string]uint64) error {
	t := s.turn()
	defer s.end(t)
	m, err := s.attached(masterID)
	if err != nil {
		return err
	}
	if err := m.knowsPools(cartridgeID, n); err != nil {
		return err
	}
	payload, err := json.Marshal(map[string]any{
		"desired_capacities": map[string]any{"cartridge_id": cartridgeID, "capacities": n},
	})
	if err != nil {
		return err
	}
	f := frame.NewRelayState(payload)
	return m.link.send(t, &f)
}

// knowsPools returns an error unless the host announced a cartridge with pools of those names.
func (m *master) knowsPools(cartridgeID string, n map[string]uint64) error {
	known := false
	for i := range m.offer.inventory.Records {
		r := &m.offer.inventory.Records[i]
		if r.Install.ID != cartridgeID || r.AttachmentError != nil || r.Stats == nil {
			continue
		}
		known = true
		for name := range n {
			if _, ok := r.Stats.Pools[name]; !ok {
				return errorf(ErrProtocol, "cartridge %q of master %q has no pool %q", cartridgeID, m.id, name)
			}
		}
	}
	if !known {
		return errorf(ErrProtocol, "master %q has no cartridge %q with pools", m.id, cartridgeID)
	}
	return nil
}

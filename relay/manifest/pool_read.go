package manifest

import (
	"errors"
	"fmt"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
)

var poolFields = []field[PoolState]{
	{"declared", true, numberField(func(s *PoolState) *uint64 { return &s.Declared })},
	{"configured", true, numberField(func(s *PoolState) *uint64 { return &s.Configured })},
	{"available", false, optionalField(func(s *PoolState) **uint64 { return &s.Available })},
	{"active", true, numberField(func(s *PoolState) *uint64 { return &s.Active })},
	{"queued", true, numberField(func(s *PoolState) *uint64 { return &s.Queued })},
	{"caps", false, func(r *reader, s *PoolState) (err error) { s.Caps, err = r.members(); return err }},
}

var errTwoSpellings = errors.New("occurs twice, in two spellings")

// ParsePools reads a pool map. The names of caps' own pools and the members become canonical; a member that
// is listed twice counts once. It fails with [frame.ErrProtocol].
func ParsePools(data []byte) (Pools, error) {
	var p Pools
	r := newReader()
	err := r.document(data, func() (err error) { p, err = r.pools(); return err })
	if err != nil {
		return nil, refused("pool map", err)
	}
	return p, nil
}

// PoolsOf returns the pools of a peer from what its HELLO, or the answer to a heartbeat, says: its pool map, or
// else the number of requests it takes at once, which peers say that know no pools. table are its caps. It fails
// with [frame.ErrProtocol] for a pool map that ParsePools refuses, and when both are absent.
func PoolsOf(pools []byte, capacity frame.Optional[uint64], table []*caps.Cap) (Pools, error) {
	if pools != nil {
		return ParsePools(pools)
	}
	n, ok := capacity.Get()
	if !ok {
		return nil, frame.Errorf(frame.ErrProtocol, "neither pools nor a handler capacity")
	}
	return PoolsFromCapacity(n, table), nil
}

// ParseCapacities reads numbers by pool, such as what an operator wants: {"all": 4}. The names of caps' own
// pools become canonical. It fails with [frame.ErrProtocol].
func ParseCapacities(data []byte) (map[string]uint64, error) {
	numbers := map[string]uint64{}
	r := newReader()
	err := r.document(data, func() error {
		return r.byPool(func(name string) (err error) {
			if _, twice := numbers[name]; twice {
				return errTwoSpellings
			}
			numbers[name], err = r.unsigned()
			return err
		})
	})
	if err != nil {
		return nil, refused("capacities", err)
	}
	return numbers, nil
}

// byPool reads an object whose members are pools.
func (r *reader) byPool(member func(name string) error) error {
	return r.object(true, func(raw []byte) error {
		name, err := r.poolName(raw)
		if err != nil {
			return err
		}
		return member(name)
	})
}

func (r *reader) pools() (Pools, error) {
	p := make(Pools, len(r.before.states))
	err := r.byPool(func(name string) error {
		if _, twice := p[name]; twice {
			return errTwoSpellings
		}
		var s PoolState
		r.pool = name
		err := readObject(r, &s, poolFields, nil)
		p[name] = s
		return err
	})
	return p, err
}

// poolName returns the name of a pool, given what is between its quotes.
func (r *reader) poolName(raw []byte) (string, error) {
	if c, known := r.urns[string(raw)]; known {
		return c.String(), nil
	}
	name := plain(raw)
	if !IsCapName(name) {
		return name, nil
	}
	c, err := r.parseURN(raw)
	if err != nil {
		return "", fmt.Errorf("is the pool of no cap: %w", err)
	}
	return c.String(), nil
}

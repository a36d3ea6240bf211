package cartridge

import (
	"bytes"
	"encoding/json"
	"runtime/metrics"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
)

// heartbeat answers a probe. Operator values that name an unknown pool are refused with an ERR in place of the answer.
func (s *session) heartbeat(f *frame.Frame) {
	probe, err := f.Heartbeat()
	if err != nil {
		s.log.Warn("a heartbeat that cannot be read", "err", err)
	}
	if probe.ResourceState != nil {
		s.state.set(bytes.Clone(probe.ResourceState))
	}
	if e := s.configure(probe.DesiredCapacities); e != nil {
		s.sendErr(f.ID, frame.ID{}, e)
		return
	}
	pools := s.pools.Pools()
	h := frame.Heartbeat{
		Pools: pools.AppendJSON(nil), HandlerCapacity: frame.Some(pools.Capacity()),
		FootprintMB: frame.Some(footprint()), RSSMB: residentMemory(),
		Drops: frame.Some(s.counters.DropsTotal()), Stragglers: frame.Some(s.counters.StragglersTotal()),
		Overruns: frame.Some(s.counters.Overruns()),
	}
	answer, err := frame.NewHeartbeat(f.ID, h)
	if err != nil {
		s.log.Error("a heartbeat that cannot be answered", "err", err)
		return
	}
	s.out.Send(&answer)
}

// configure takes the operator's numbers, a JSON object of pools; nil for none.
func (s *session) configure(desired []byte) *Error {
	if desired == nil {
		return nil
	}
	var numbers map[string]uint64
	if err := json.Unmarshal(desired, &numbers); err != nil {
		return &Error{Code: call.CodeProtocolError, Attribution: frame.AttributionInternal,
			Message: "desired_capacities: " + err.Error()}
	}
	if err := s.pools.SetConfigured(numbers); err != nil {
		return &Error{Code: "UNKNOWN_POOL", Attribution: frame.AttributionInternal, Message: err.Error()}
	}
	return nil
}

// footprint returns the memory that this program has from its system and did not give back, in MiB.
func footprint() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return (samples[0].Value.Uint64() - samples[1].Value.Uint64()) >> 20
}

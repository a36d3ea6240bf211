package suite

import (
	"hash/fnv"

	"github.com/cosim-go/cosim/relay/bench/internal/floor"
	"github.com/cosim-go/cosim/relay/bench/internal/load"
	"github.com/cosim-go/cosim/relay/bench/internal/measure"
	"github.com/cosim-go/cosim/relay/bench/internal/ours"
)

// Checksum sums payloads, as their producer and their consumer do.
func Checksum() ([]measure.Scenario, error) {
	var scenarios []measure.Scenario
	for _, size := range load.Sizes {
		data := load.Payload(size)
		scenarios = append(scenarios, measure.Scenario{
			Group: "checksum", Case: payload(size), Bytes: size, Contenders: []measure.Contender{
				measure.Loop("relay", measure.Ours, ours.Checksum(data)),
				measure.Loop("relay-four", measure.Ours, ours.Checksums(data)),
				measure.Loop("hash/fnv", measure.Peer, standardFNV(data)),
				measure.Loop("memcpy", measure.Floor, floor.Memcpy(data)),
			},
		})
	}
	return scenarios, nil
}

func standardFNV(data []byte) func(n int) error {
	h := fnv.New64a()
	return func(n int) error {
		for range n {
			h.Reset()
			h.Write(data)
		}
		return nil
	}
}

// Order numbers frames and keeps them in order.
func Order() ([]measure.Scenario, error) {
	return []measure.Scenario{{Group: "order", Case: "flows=64", Contenders: []measure.Contender{
		measure.Loop("relay", measure.Ours, ours.Order(64)),
	}}}, nil
}

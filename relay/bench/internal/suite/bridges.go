package suite

import (
	"github.com/cosim-go/cosim/relay/bench/internal/carry"
	"github.com/cosim-go/cosim/relay/bench/internal/floor"
	"github.com/cosim-go/cosim/relay/bench/internal/load"
	"github.com/cosim-go/cosim/relay/bench/internal/measure"
	"github.com/cosim-go/cosim/relay/bench/internal/ours"
)

var bridges = []named[carry.Bridge]{
	{"slave", measure.Ours, ours.Slave},
	{"copy-64KiB", measure.Floor, floor.Copy(64 << 10)},
	{"copy-256KiB", measure.Floor, floor.Copy(256 << 10)},
}

// Bridge passes CHUNKs of several requests on from one connection to another.
func Bridge() ([]measure.Scenario, error) {
	var scenarios []measure.Scenario
	for _, size := range load.Sizes {
		s := measure.Scenario{Group: "bridge", Case: payload(size), Bytes: size}
		tape := load.NewTape(size)
		for _, b := range bridges {
			s.Contenders = append(s.Contenders, carry.NewBridge(b.name, b.kind, b.open, tape))
		}
		scenarios = append(scenarios, s)
	}
	return scenarios, nil
}

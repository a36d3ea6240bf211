package suite

import (
	"github.com/cosim-go/cosim/relay/bench/internal/carry"
	"github.com/cosim-go/cosim/relay/bench/internal/floor"
	"github.com/cosim-go/cosim/relay/bench/internal/load"
	"github.com/cosim-go/cosim/relay/bench/internal/measure"
	"github.com/cosim-go/cosim/relay/bench/internal/ours"
	"github.com/cosim-go/cosim/relay/bench/internal/peer"
)

// A named is a contender before it is known what it carries.
type named[Open any] struct {
	name string
	kind measure.Kind
	open Open
}

var links = []named[carry.OpenLink]{
	{"relay", measure.Ours, ours.Link},
	{"yamux", measure.Peer, peer.YamuxLink},
	{"grpc", measure.Peer, peer.GRPCLink},
	{"grpc-raw", measure.Peer, peer.GRPCRawLink},
	{"nats", measure.Peer, peer.NATSLink},
	{"bufio", measure.Floor, floor.Bufio},
	{"writev", measure.Floor, floor.Writev},
}

var echoes = []named[carry.OpenEcho]{
	{"relay", measure.Ours, ours.Echo},
	{"yamux", measure.Peer, peer.YamuxEcho},
	{"grpc", measure.Peer, peer.GRPCEcho},
	{"grpc-raw", measure.Peer, peer.GRPCRawEcho},
	{"nats", measure.Peer, peer.NATSEcho},
	{"raw", measure.Floor, floor.Echo},
}

// Hop carries CHUNKs from one end of a connection to the other.
func Hop() ([]measure.Scenario, error) {
	var scenarios []measure.Scenario
	for _, size := range load.Sizes {
		s := measure.Scenario{Group: "hop", Case: payload(size), Bytes: size}
		for _, l := range links {
			s.Contenders = append(s.Contenders, carry.NewLink(l.name, l.kind, l.open, load.Chunk(size)))
		}
		scenarios = append(scenarios, s)
	}
	return scenarios, nil
}

// Trip sends small frames there and back, one at a time.
func Trip() ([]measure.Scenario, error) {
	tape := load.NewTape(64)
	hop := measure.Scenario{Group: "trip", Case: "path=hop", Trip: true}
	for _, e := range echoes {
		hop.Contenders = append(hop.Contenders, carry.NewEcho(e.name, e.kind, e.open, tape))
	}
	bridge := measure.Scenario{Group: "trip", Case: "path=bridge", Trip: true}
	for _, b := range bridges {
		bridge.Contenders = append(bridge.Contenders, carry.NewEcho(b.name, b.kind, carry.EchoOver(b.open), tape))
	}
	return []measure.Scenario{hop, bridge}, nil
}

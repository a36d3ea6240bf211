package suite

import "github.com/cosim-go/cosim/relay/bench/internal/load"

// A line is something that the relay is meant to reach, in one or several cases of a group.
type line struct {
	number  int
	group   string
	cases   []string
	ours    string // contender
	against string // contender; empty when allocations are meant
	from    string // the case that against is taken from; empty for the same
	p99     bool   // compare 99th percentiles rather than medians
	atMost  float64
	noAlloc bool

	mostAllocs float64 // of an operation; 0 when something else is meant
}

// faster is the limit of something that takes at most a share of the time.
func faster(times float64) float64 { return 1 / times }

var (
	tiny   = []string{payload(load.Sizes[0])}
	middle = []string{payload(load.Sizes[1])}
	large  = []string{payload(load.Sizes[2]), payload(load.Sizes[3])}
	small  = []string{tiny[0], middle[0], "frame=REQ", "frame=LOG", "frame=CREDIT", "frame=END"}
	every  = []string{tiny[0], middle[0], large[0], large[1]}
	hop    = []string{"path=hop"}
	across = []string{"path=bridge"}
)

var lines = []line{
	{number: 1, group: "encode", cases: small, ours: "relay", against: "fxamacker-reused", atMost: faster(4)},
	{number: 1, group: "encode", cases: small, ours: "relay", noAlloc: true},
	{number: 2, group: "encode", cases: large, ours: "relay", against: "memcpy", atMost: 1.3},
	{number: 2, group: "encode", cases: large, ours: "relay", noAlloc: true},
	{number: 3, group: "decode", cases: small, ours: "relay", against: "fxamacker-reused", atMost: faster(4)},
	{number: 3, group: "decode", cases: small, ours: "relay", noAlloc: true},
	{number: 4, group: "decode", cases: large, ours: "relay", against: "relay", from: middle[0], atMost: 1.5},
	{number: 4, group: "decode", cases: large, ours: "relay", noAlloc: true},

	{number: 5, group: "checksum", cases: every, ours: "relay", against: "hash/fnv", atMost: 1 / 0.95},
	{number: 5, group: "checksum", cases: every, ours: "relay-four", against: "hash/fnv", atMost: faster(2)},
	{number: 6, group: "order", cases: []string{"flows=64"}, ours: "relay", noAlloc: true},

	{number: 7, group: "hop", cases: tiny, ours: "relay", against: "grpc", atMost: faster(3)},
	{number: 7, group: "hop", cases: tiny, ours: "relay", against: "nats", atMost: faster(3)},
	{number: 7, group: "hop", cases: tiny, ours: "relay", against: "bufio", atMost: 5},
	{number: 8, group: "hop", cases: middle, ours: "relay", against: "grpc", atMost: faster(3)},
	{number: 8, group: "hop", cases: middle, ours: "relay", against: "nats", atMost: faster(3)},
	{number: 8, group: "hop", cases: middle, ours: "relay", against: "yamux", atMost: 1},
	{number: 8, group: "hop", cases: middle, ours: "relay", against: "bufio", atMost: 2.2},
	{number: 9, group: "hop", cases: large, ours: "relay", against: "grpc", atMost: faster(3)},
	{number: 9, group: "hop", cases: large, ours: "relay", against: "nats", atMost: faster(3)},
	{number: 9, group: "hop", cases: large, ours: "relay", against: "yamux", atMost: faster(1.3)},
	{number: 9, group: "hop", cases: large, ours: "relay", against: "bufio", atMost: 1.4},

	{number: 10, group: "bridge", cases: middle, ours: "slave", against: "copy-64KiB", atMost: 1.3},
	{number: 10, group: "bridge", cases: large, ours: "slave", against: "copy-256KiB", atMost: 1.3},
	{number: 11, group: "bridge", cases: tiny, ours: "slave", against: "copy-64KiB", atMost: 3.5},
	{number: 11, group: "bridge", cases: every, ours: "slave", noAlloc: true},

	{number: 12, group: "trip", cases: hop, ours: "relay", against: "yamux", atMost: 1},
	{number: 12, group: "trip", cases: hop, ours: "relay", against: "grpc-raw", atMost: 1},
	{number: 12, group: "trip", cases: hop, ours: "relay", against: "raw", atMost: 1.3},
	{number: 12, group: "trip", cases: hop, ours: "relay", against: "raw", p99: true, atMost: 2.5},
	{number: 12, group: "trip", cases: across, ours: "slave", against: "copy-64KiB", atMost: 1.3},
	{number: 12, group: "trip", cases: across, ours: "slave", against: "copy-64KiB", p99: true, atMost: 2.5},

	{number: 13, group: "switch", cases: []string{"masters=1/in-flight=1"}, ours: "relay", against: "raw", atMost: 3},
	{number: 14, group: "switch", cases: []string{"masters=16/in-flight=32"}, ours: "relay", against: "1 master", atMost: 12},
	{
		number: 14, group: "switch", ours: "relay", mostAllocs: 20,
		cases: []string{"masters=1/in-flight=32", "masters=4/in-flight=32", "masters=16/in-flight=32"},
	},
	{number: 15, group: "lookup", cases: []string{"caps=10000/new"}, ours: "relay", against: "10 caps", atMost: 3},
	{number: 15, group: "lookup", cases: []string{"caps=10000/repeated"}, ours: "relay", against: "Go map", atMost: 10},
	{number: 16, group: "stream", cases: large[1:], ours: "relay", against: "copy that hashes", atMost: 1 / 0.4},
}

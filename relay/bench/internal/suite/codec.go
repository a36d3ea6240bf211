// Package suite says what is compared with what.
package suite

import (
	"github.com/cosim-go/cosim/relay/bench/internal/cborframe"
	"github.com/cosim-go/cosim/relay/bench/internal/floor"
	"github.com/cosim-go/cosim/relay/bench/internal/load"
	"github.com/cosim-go/cosim/relay/bench/internal/measure"
	"github.com/cosim-go/cosim/relay/bench/internal/ours"
)

// Encode makes bodies of frames.
func Encode() ([]measure.Scenario, error) {
	codec, err := cborframe.NewCodec()
	return ofFrames("encode", func(item load.Item) []measure.Contender {
		f := item.Frame
		return []measure.Contender{
			measure.Loop("relay", measure.Ours, ours.Encode(item)),
			measure.Loop("fxamacker", measure.Peer, cborframe.Marshal(codec, &f)),
			measure.Loop("fxamacker-reused", measure.Peer, cborframe.MarshalReused(codec, &f)),
			measure.Loop("memcpy", measure.Floor, floor.Memcpy(item.Body())),
		}
	}), err
}

// Decode reads bodies of frames.
func Decode() ([]measure.Scenario, error) {
	codec, err := cborframe.NewCodec()
	return ofFrames("decode", func(item load.Item) []measure.Contender {
		return []measure.Contender{
			measure.Loop("relay", measure.Ours, ours.Decode(item)),
			measure.Loop("relay-check", measure.Ours, ours.Check(item)),
			measure.Loop("relay-owned", measure.Ours, ours.DecodeOwned(item)),
			measure.Loop("fxamacker", measure.Peer, cborframe.Unmarshal(codec, item.Body())),
			measure.Loop("fxamacker-reused", measure.Peer, cborframe.UnmarshalReused(codec, item.Body())),
			measure.Loop("memcpy", measure.Floor, floor.Memcpy(item.Body())),
		}
	}), err
}

// ofFrames is a scenario for each frame that is measured by itself.
func ofFrames(group string, contenders func(load.Item) []measure.Contender) []measure.Scenario {
	var scenarios []measure.Scenario
	for _, size := range load.Sizes {
		scenarios = append(scenarios, measure.Scenario{
			Group: group, Case: payload(size), Bytes: size, Contenders: contenders(load.Chunk(size)),
		})
	}
	for _, item := range load.Small() {
		scenarios = append(scenarios, measure.Scenario{
			Group: group, Case: "frame=" + item.Name, Contenders: contenders(item),
		})
	}
	return scenarios
}

// payload names the case of a payload's size.
func payload(size int) string { return "payload=" + load.SizeName(size) }

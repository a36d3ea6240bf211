package ours

import (
	"errors"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// Order numbers n frames, of that many flows in turn, and takes each in at a reorder buffer.
func Order(flows int) func(n int) error {
	assigner, buffer := flow.NewSeqAssigner(nil), flow.NewReorderBuffer(frame.DefaultMaxHeld, nil)
	frames := make([]frame.Frame, flows)
	for i := range frames {
		frames[i] = frame.Frame{Type: frame.TypeChunk, ID: frame.NewUUID(), RoutingID: frame.Number(uint64(i))}
	}
	next := 0
	return func(n int) error {
		for range n {
			f := &frames[next]
			next = (next + 1) % flows
			assigner.Assign(f)
			head := f.Head()
			if ready, err := buffer.Accept(&head, nil); err != nil || !ready {
				return errors.Join(err, errors.New("a frame that is due was held"))
			}
		}
		return nil
	}
}

// Sum is where checksums go, so that they are made.
var Sum uint64

// Checksum sums a payload n times.
func Checksum(payload []byte) func(n int) error {
	return func(n int) error {
		for range n {
			Sum += flow.Checksum(payload)
		}
		return nil
	}
}

// Checksums sums n payloads like the one given, four together.
func Checksums(payload []byte) func(n int) error {
	var payloads [4][]byte
	for i := range payloads {
		payloads[i] = append([]byte(nil), payload...)
	}
	var sums [len(payloads)]uint64
	return func(n int) error {
		for ; n > 0; n -= len(payloads) {
			some := min(n, len(payloads))
			flow.Checksums(sums[:some], payloads[:some])
			Sum += sums[0]
		}
		return nil
	}
}

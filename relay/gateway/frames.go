package gateway

import (
	"bytes"
	"math"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// frames reads the frames of a connection, those of each flow in order.
type frames struct {
	in    *frame.Reader
	order *flow.ReorderBuffer
	held  frame.Frame
	due   bool // frames that were held may follow
}

// newFrames returns the frames that are left after the HELLO, within limits.
func newFrames(in *frame.Reader, limits frame.Limits) *frames {
	in.SetMaxFrame(limits.FrameLimit())
	return &frames{in: in, order: flow.NewReorderBuffer(int(min(limits.MaxReorderBuffer, math.MaxInt32)), nil)}
}

// next returns the next frame and its body. Both are valid until the next call.
func (r *frames) next() (*frame.Frame, []byte, error) {
	if r.due {
		if _, wire, ok := r.order.Release(); ok {
			body := wire[frame.PrefixSize:]
			err := frame.Decode(body, &r.held)
			r.delivered(&r.held)
			return &r.held, body, err
		}
		r.due = false
	}
	for {
		f, err := r.in.Next()
		if err != nil {
			return nil, nil, err
		}
		h, wire := f.Head(), r.in.Wire()
		ready, err := r.order.Accept(&h, wire)
		if err != nil {
			return nil, nil, err
		}
		if ready {
			r.due = r.order.Due()
			r.delivered(f)
			return f, wire[frame.PrefixSize:], nil
		}
	}
}

func (r *frames) delivered(f *frame.Frame) {
	if f.Type.Terminal() {
		r.order.Cleanup(flow.KeyOf(f.Head()))
	}
}

// The names in meta that callers and gateways have of their own.
const (
	metaPreferred = "preferred_cap"
	metaMaxChunk  = "max_chunk"
	metaCredit    = "initial_credit"
)

// admission returns the CREDIT of 0 that tells a caller what holds for the streams of a request.
func admission(rid frame.ID, l frame.Limits) (frame.Frame, error) {
	f := frame.NewCredit(rid, nil, 0, frame.RequestDirection)
	var b frame.MetaBuilder
	frame.RequestDirection.Put(&b)
	b.Uint(metaMaxChunk, l.MaxChunk)
	b.Uint(metaCredit, l.InitialCredit)
	meta, err := b.Meta()
	f.Meta = meta
	return f, err
}

// admitted reads what admission made, and returns false for any other frame.
func admitted(f *frame.Frame) (frame.Limits, bool) {
	if f.Type != frame.TypeCredit || f.StreamID != nil || f.Credit.Or(1) != 0 {
		return frame.Limits{}, false
	}
	chunk, ok := f.Meta.Uint(metaMaxChunk)
	credit, also := f.Meta.Uint(metaCredit)
	return frame.Limits{MaxChunk: chunk, InitialCredit: credit}, ok && also && chunk > 0 && credit > 0
}

// preferred returns the provider that a REQ prefers.
func preferred(f *frame.Frame) string {
	text, _ := f.Meta.Text(metaPreferred)
	return string(bytes.Clone(text))
}

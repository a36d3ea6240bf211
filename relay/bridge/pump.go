package bridge

import (
	"errors"
	"io"
	"log/slog"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// A pump carries frames in one direction. Frames that stand together in the reader's buffer are
// written together, from there.
type pump struct {
	in    *frame.Reader
	out   *frame.Writer
	order *flow.ReorderBuffer // nil to pass on all as it comes
	log   *slog.Logger

	// intercept decides on the frame that was read last, one outside of flows.
	intercept func(*pump, frame.Type) (action, error)

	run       []byte // frames that are to be written, in the reader's buffer
	inRun     uint64 // how many they are
	counted   Counters
	published *counters
}

// newPump returns a pump that holds at most held frames of a flow.
func newPump(from, to *end, o SlaveOptions, held int, published *counters) *pump {
	p := &pump{out: to.out, order: flow.NewReorderBuffer(held, nil), log: o.Logger, published: published}
	p.in = frame.NewReader(from, &frame.ReaderOptions{MaxFrame: o.MaxFrame, Idle: p.flush})
	return p
}

// carry works until the stream ends, which is no error, or something fails.
func (p *pump) carry() error {
	defer p.publish()
	for {
		head, err := p.in.NextHead()
		if err == io.EOF || errors.Is(err, errOver) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := p.take(head); err != nil {
			return err
		}
	}
}

// take handles the frame that was read last.
func (p *pump) take(head *frame.Head) error {
	if !head.Type.Flow() {
		return p.takeControl(head.Type)
	}
	if p.order == nil {
		return p.forward(p.in.Wire())
	}
	ready, err := p.order.Accept(head, p.in.Wire())
	if err != nil || !ready {
		return err
	}
	if err := p.forward(p.in.Wire()); err != nil {
		return err
	}
	p.delivered(head)
	if p.order.Due() {
		return p.release()
	}
	return nil
}

// takeControl handles a frame outside of flows.
func (p *pump) takeControl(t frame.Type) error {
	act, err := p.intercept(p, t)
	switch {
	case err != nil:
		return err
	case act == keep:
		p.counted.Kept++
		return nil
	case act == drop:
		p.counted.Dropped++
		return nil
	}
	return p.forward(p.in.Wire())
}

// release writes the held frames that are due now.
func (p *pump) release() error {
	if err := p.writeRun(); err != nil {
		return err
	}
	for head, wire, ok := p.order.Release(); ok; head, wire, ok = p.order.Release() {
		if err := p.write(wire, 1); err != nil {
			return err
		}
		p.delivered(&head)
	}
	return nil
}

// delivered forgets a flow whose end went out.
func (p *pump) delivered(head *frame.Head) {
	if head.Type.Terminal() {
		p.order.Cleanup(flow.KeyOf(*head))
	}
}

// forward makes a frame in the reader's buffer part of what is to be written.
func (p *pump) forward(wire []byte) error {
	if n := len(p.run); n > 0 && n < cap(p.run) && &p.run[:n+1][n] == &wire[0] {
		p.run = p.run[:n+len(wire)]
		p.inRun++
		return nil
	}
	if err := p.writeRun(); err != nil {
		return err
	}
	p.run, p.inRun = wire, 1
	return nil
}

// writeRun gives the writer what is to be written.
func (p *pump) writeRun() error {
	if p.inRun == 0 {
		return nil
	}
	run, frames := p.run, p.inRun
	p.run, p.inRun = nil, 0
	return p.write(run, frames)
}

// write gives the writer some frames.
func (p *pump) write(wire []byte, frames uint64) error {
	if err := p.out.WriteWire(wire); err != nil {
		return err
	}
	p.counted.Frames += frames
	p.counted.Bytes += uint64(len(wire))
	return nil
}

// flush sends on what was taken so far. It runs before the reader reads.
func (p *pump) flush() error {
	if err := p.writeRun(); err != nil {
		return err
	}
	p.publish()
	return p.out.Flush()
}

// publish shows the counters to those who ask.
func (p *pump) publish() {
	if p.order != nil {
		if lost := p.counted.observe(p.order); lost > 0 {
			logLost(p.log, lost)
		}
	}
	p.published.publish(p.counted)
}

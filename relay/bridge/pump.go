package bridge

import (
	"fmt"
	"io"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// A pump carries frames in one direction. Frames that stand together in the reader's buffer are
// written together, from there.
type pump struct {
	in    *frame.Reader
	out   *frame.Writer
	to    *end
	order *flow.ReorderBuffer

	// intercept decides on frames that are not simply passed on.
	intercept func(*pump, frame.Type) (action, error)

	run       []byte // frames that are to be written, in the reader's buffer
	counted   Counters
	published *counters
}

// An action is what becomes of a frame.
type action int

const (
	pass action = iota // on, in the order of its flow
	keep               // it was meant for the slave
	drop               // it must not cross
)

// newPump returns a pump of frames of at most maxFrame bytes, which holds at most held of a
// flow.
func newPump(from, to *end, maxFrame, held int, published *counters) *pump {
	p := &pump{out: to.out, to: to, order: flow.NewReorderBuffer(held, nil), published: published}
	p.in = frame.NewReader(from, &frame.ReaderOptions{MaxFrame: maxFrame, Idle: p.idle})
	return p
}

// carry works until the stream ends, which is no error, or something fails.
func (p *pump) carry() error {
	for {
		head, err := p.in.NextHead()
		if err == io.EOF {
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
func (p *pump) take(head frame.Head) error {
	if !head.Type.Flow() {
		act, err := p.intercept(p, head.Type)
		if err != nil {
			return err
		}
		switch act {
		case keep:
			p.counted.Kept++
			return nil
		case drop:
			p.counted.Dropped++
			return nil
		}
		return p.forward(p.in.Wire())
	}
	ready, err := p.order.Accept(head, p.in.Wire())
	if err != nil {
		return fmt.Errorf("%v frame %d of request %v: %w", head.Type, head.Seq, head.ID, err)
	}
	if !ready {
		return nil
	}
	if err := p.forward(p.in.Wire()); err != nil {
		return err
	}
	p.delivered(head)
	return p.release()
}

// release writes the held frames that are due now.
func (p *pump) release() error {
	head, wire, ok := p.order.Release()
	if !ok {
		return nil
	}
	if err := p.writeRun(); err != nil {
		return err
	}
	for ; ok; head, wire, ok = p.order.Release() {
		if err := p.out.WriteWire(wire); err != nil {
			return err
		}
		p.count(wire)
		p.delivered(head)
	}
	return nil
}

// delivered forgets a flow whose end went out.
func (p *pump) delivered(head frame.Head) {
	if head.Type.Terminal() {
		p.order.Cleanup(flow.KeyOf(head))
	}
}

// forward makes a frame in the reader's buffer part of what is to be written.
func (p *pump) forward(wire []byte) error {
	p.count(wire)
	if n := len(p.run); n > 0 && n < cap(p.run) && &p.run[:n+1][n] == &wire[0] {
		p.run = p.run[:n+len(wire)]
		return nil
	}
	if err := p.writeRun(); err != nil {
		return err
	}
	p.run = wire
	return nil
}

func (p *pump) count(wire []byte) {
	p.counted.Frames++
	p.counted.Bytes += uint64(len(wire))
}

// writeRun gives the writer what is to be written.
func (p *pump) writeRun() error {
	if len(p.run) == 0 {
		return nil
	}
	run := p.run
	p.run = nil
	return p.out.WriteWire(run)
}

// idle runs before the reader reads: what was taken so far goes out first.
func (p *pump) idle() error {
	if err := p.writeRun(); err != nil {
		return err
	}
	p.publish()
	return p.out.Flush()
}

func (p *pump) publish() {
	held := p.order.Stats()
	p.counted.Held = uint64(held.Held)
	p.counted.Lost = uint64(held.Dropped)
	p.published.publish(p.counted)
}

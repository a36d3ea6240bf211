package bridge_test

import (
	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// A twin is what one direction of a slave has to do, in the simplest way.
type twin struct {
	fromHost bool
	maxHeld  int
	flows    map[flow.Key]*twinFlow
	out      []byte
	states   []string
	stats    bridge.Counters
}

type twinFlow struct {
	due  uint64
	held map[uint64]twinFrame
}

type twinFrame struct {
	head frame.Head
	wire []byte
}

func newTwin(fromHost bool, maxHeld int) *twin {
	return &twin{fromHost: fromHost, maxHeld: maxHeld, flows: map[flow.Key]*twinFlow{}}
}

// take takes what comes next, one frame, and returns the kind of the error that ends the relay.
func (w *twin) take(wire []byte) frame.Kind {
	var f frame.Frame
	if err := frame.Decode(wire[frame.PrefixSize:], &f); err != nil {
		return frame.KindOf(err)
	}
	if f.Type.Flow() {
		return w.takeOrdered(twinFrame{f.Head(), wire})
	}
	switch {
	case f.Type == frame.TypePolicy && w.fromHost:
		return frame.ErrProtocol
	case f.Type == frame.TypeRelayState && !w.fromHost && f.Payload != nil:
		w.stats.Kept++
		w.states = append(w.states, string(f.Payload))
	case f.Type == frame.TypeRelayState, f.Type == frame.TypeRelayNotify && !w.fromHost:
		w.stats.Dropped++
	default:
		w.pass(wire)
	}
	return ""
}

func (w *twin) takeOrdered(f twinFrame) frame.Kind {
	key := flow.KeyOf(f.head)
	state := w.flows[key]
	if state == nil {
		state = &twinFlow{held: map[uint64]twinFrame{}}
	}
	_, double := state.held[f.head.Seq]
	if f.head.Seq < state.due || double || f.head.Seq > state.due && len(state.held) >= w.maxHeld {
		return frame.ErrProtocol
	}
	w.flows[key] = state
	state.held[f.head.Seq] = f
	for {
		next, ok := state.held[state.due]
		if !ok {
			return ""
		}
		delete(state.held, state.due)
		state.due++
		w.pass(next.wire)
		if next.head.Type.Terminal() {
			w.stats.Lost += uint64(len(state.held))
			delete(w.flows, key)
			return ""
		}
	}
}

func (w *twin) pass(wire []byte) {
	w.out = append(w.out, wire...)
	w.stats.Frames++
	w.stats.Bytes += uint64(len(wire))
}

// counters are what the slave has to count.
func (w *twin) counters() bridge.Counters {
	stats := w.stats
	for _, f := range w.flows {
		stats.Held += uint64(len(f.held))
	}
	return stats
}

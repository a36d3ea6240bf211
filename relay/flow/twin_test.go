package flow

import (
	"slices"

	"github.com/cosim-go/cosim/relay/frame"
)

// A twin is what a ReorderBuffer has to do, in the simplest way: everything is looked for from
// the beginning.
type twin struct {
	maxHeld, maxFlows  int
	maxBytes           int64
	flows              map[Key]*twinFlow
	clock              int // counts touches
	forgotten, dropped uint64
	run                *twinFlow
}

type twinFlow struct {
	key      Key
	expected uint64
	held     []twinFrame
	touched  int
}

type twinFrame struct {
	head frame.Head
	wire string
}

func newTwin(maxHeld, maxFlows int, maxBytes int64) *twin {
	return &twin{maxHeld: maxHeld, maxFlows: maxFlows, maxBytes: maxBytes, flows: map[Key]*twinFlow{}}
}

func (f *twinFlow) find(seq uint64) int {
	return slices.IndexFunc(f.held, func(h twinFrame) bool { return h.head.Seq == seq })
}

func (f *twinFlow) cost() (n int64) {
	for _, h := range f.held {
		n += heldCost + int64(len(h.wire))
	}
	return n
}

func (t *twin) cost() (n int64) {
	for _, f := range t.flows {
		n += f.cost()
	}
	return n
}

func (t *twin) accept(h frame.Head, wire string) (ready bool, err error) {
	if _, _, ok := t.due(); ok {
		return false, errUnreleased
	}
	if !h.Type.Flow() {
		return true, nil
	}
	f, known := t.flows[KeyOf(h)]
	if !known {
		f = &twinFlow{key: KeyOf(h)}
	}
	cost := heldCost + int64(len(wire))
	switch {
	case h.Seq < f.expected:
		return false, ErrStale
	case f.find(h.Seq) >= 0:
		return false, ErrDuplicate
	case h.Seq > f.expected && (len(f.held) >= t.maxHeld || f.cost()+cost > t.maxBytes):
		return false, ErrOverflow
	}
	if !known && len(t.flows) == t.maxFlows {
		victim := t.oldest(func(f *twinFlow) bool { return len(f.held) == 0 })
		if victim == nil {
			victim = t.oldest(func(*twinFlow) bool { return true })
		}
		t.giveUp(victim)
	}
	t.flows[f.key] = f
	t.touch(f)
	if h.Seq == f.expected {
		f.expected++
		t.run = f
		return true, nil
	}
	for t.cost()+cost > t.maxBytes {
		t.giveUp(t.oldest(func(f *twinFlow) bool { return len(f.held) > 0 }))
	}
	f.held = append(f.held, twinFrame{h, wire})
	return false, nil
}

func (t *twin) touch(f *twinFlow) {
	t.clock++
	f.touched = t.clock
}

func (t *twin) oldest(fit func(f *twinFlow) bool) (oldest *twinFlow) {
	for _, f := range t.flows {
		if fit(f) && (oldest == nil || f.touched < oldest.touched) {
			oldest = f
		}
	}
	return oldest
}

func (t *twin) giveUp(f *twinFlow) {
	t.forgotten++
	t.cleanup(f.key)
}

// due returns the frame that Release has to return.
func (t *twin) due() (f *twinFlow, at int, ok bool) {
	if t.run == nil {
		return nil, 0, false
	}
	at = t.run.find(t.run.expected)
	return t.run, at, at >= 0
}

func (t *twin) release() (h frame.Head, wire string, ok bool) {
	f, at, ok := t.due()
	if !ok {
		return frame.Head{}, "", false
	}
	next := f.held[at]
	f.held = slices.Delete(f.held, at, at+1)
	f.expected++
	t.touch(f)
	return next.head, next.wire, true
}

func (t *twin) cleanup(k Key) {
	f, ok := t.flows[k]
	if !ok {
		return
	}
	t.dropped += uint64(len(f.held))
	delete(t.flows, k)
	if t.run == f {
		t.run = nil
	}
}

func (t *twin) stats() ReorderStats {
	s := ReorderStats{Flows: len(t.flows), ForgottenFlows: t.forgotten, Dropped: t.dropped}
	for _, f := range t.flows {
		s.Held += len(f.held)
		for _, h := range f.held {
			s.HeldBytes += int64(len(h.wire))
		}
	}
	return s
}

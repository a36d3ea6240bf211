package flow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// A gatesTwin is what Gates have to do, in the simplest way: one list of gates.
type gatesTwin struct {
	gates  []*gateTwin
	closed error
}

type gateTwin struct {
	rid       frame.ID
	stream    string
	available uint64
	reason    error
	line      []*waitTwin
	gate      *Gate
}

// A waitTwin is a wait of both.
type waitTwin struct {
	n      uint64
	gate   *gateTwin
	waiter *waiter
	called bool
	err    error
}

func (t *gatesTwin) open(rid frame.ID, stream string, initial uint64) *gateTwin {
	t.close(ErrClosed, func(g *gateTwin) bool { return g.rid == rid && g.stream == stream })
	g := &gateTwin{rid: rid, stream: stream, available: initial, reason: t.closed}
	if t.closed == nil {
		t.gates = append(t.gates, g)
	}
	return g
}

func (t *gatesTwin) close(reason error, which func(g *gateTwin) bool) {
	t.gates = slices.DeleteFunc(t.gates, func(g *gateTwin) bool {
		if which(g) {
			g.close(reason)
		}
		return which(g)
	})
}

func (g *gateTwin) close(reason error) {
	if g.reason == nil {
		g.reason = reason
	}
	for _, w := range g.line {
		w.called, w.err = true, reason
	}
	g.line = nil
}

func (t *gatesTwin) grant(rid frame.ID, stream *string, n uint64) bool {
	var found []*gateTwin
	for _, g := range t.gates {
		if g.rid == rid && (stream == nil || *stream == g.stream) {
			found = append(found, g)
		}
	}
	if len(found) != 1 {
		return false
	}
	found[0].grant(n)
	return true
}

func (g *gateTwin) grant(n uint64) {
	if g.reason != nil {
		return
	}
	if g.available > math.MaxUint64-n {
		g.available = math.MaxUint64
	} else {
		g.available += n
	}
	g.serve()
}

func (g *gateTwin) serve() {
	for len(g.line) > 0 && g.line[0].n <= g.available {
		g.available -= g.line[0].n
		g.line[0].called = true
		g.line = g.line[1:]
	}
}

// take reports whether n were taken.
func (g *gateTwin) take(n uint64) bool {
	if g.reason != nil || n > 0 && len(g.line) > 0 || n > g.available {
		return false
	}
	g.available -= n
	return true
}

// A gatesRun does the same with gates and with their twin.
type gatesRun struct {
	program
	ctx   context.Context
	gates *Gates
	twin  gatesTwin
	all   []*gateTwin // open and closed ones
	waits []*waitTwin
}

var errGaveUp = errors.New("gave up")

// runGates runs a program until its end and returns how many steps it took, and an error when
// gates and twin differ.
func runGates(ctx context.Context, code []byte) (steps int, err error) {
	r := &gatesRun{program: program{code: code}, ctx: ctx, gates: NewGates(frame.ResponseDirection)}
	for ; !r.done(); steps++ {
		if err := r.step(); err != nil {
			return steps, fmt.Errorf("step %d: %w", steps, err)
		}
		if err := r.same(); err != nil {
			return steps, fmt.Errorf("step %d: %w", steps, err)
		}
	}
	return steps, nil
}

func (r *gatesRun) step() error {
	what, how := r.byte(), r.byte()
	rid, stream := frame.Number(uint64(how&1)), []string{"", "a", "b"}[how>>1%3]
	n := uint64(how >> 4)
	switch {
	case what < 30 || len(r.all) == 0:
		g := r.twin.open(rid, stream, n)
		g.gate = r.gates.Open(rid, stream, n)
		r.all = append(r.all[max(0, len(r.all)-8):], g)
	case what < 100:
		return r.grant(rid, stream, n, what, how)
	case what < 190:
		return r.acquire(r.all[int(how)%len(r.all)], n%4, what < 120)
	case what < 220:
		return r.leave(int(how))
	case what < 235:
		r.twin.close(errEnded, func(g *gateTwin) bool { return g.rid == rid && g.stream == stream })
		r.gates.CloseStream(rid, stream, errEnded)
	case what < 240:
		g := r.all[int(how)%len(r.all)]
		g.close(errFailed)
		g.gate.Close(errFailed)
	case what < 255:
		r.twin.close(errCancelled, func(g *gateTwin) bool { return g.rid == rid })
		r.gates.CloseRequest(rid, errCancelled)
	case how == 255:
		r.twin.close(ErrClosed, func(*gateTwin) bool { return true })
		r.twin.closed = ErrClosed
		r.gates.CloseAll(nil)
	}
	return nil
}

func (r *gatesRun) grant(rid frame.ID, stream string, n uint64, what, how byte) error {
	if n == 15 {
		n = math.MaxUint64 - 3
	}
	f := frame.NewCredit(rid, []byte(stream), n, frame.ResponseDirection)
	named := &stream
	if how&8 != 0 {
		f.StreamID, named = nil, nil
	}
	want := false
	if what < 40 {
		f.Meta = frame.NewCredit(rid, nil, 0, frame.Direction(what%2)).Meta
	} else {
		want = r.twin.grant(rid, named, n)
	}
	if got := r.gates.Grant(&f); got != want {
		return fmt.Errorf("Grant(%+v) = %t, want %t", f, got, want)
	}
	return nil
}

func (r *gatesRun) acquire(g *gateTwin, n uint64, try bool) error {
	taken := g.take(n)
	if try {
		if got := g.gate.TryAcquire(n); got != taken {
			return fmt.Errorf("TryAcquire(%d) = %t, want %t", n, got, taken)
		}
		return nil
	}
	w, err := g.gate.enter(r.ctx, n)
	if err != g.reason || (w != nil) != (g.reason == nil && !taken) {
		return fmt.Errorf("Acquire(%d) = %v, waits: %t, want %v, taken: %t", n, err, w != nil, g.reason, taken)
	}
	if w != nil {
		wait := &waitTwin{n: n, gate: g, waiter: w}
		g.line = append(g.line, wait)
		r.waits = append(r.waits, wait)
	}
	if len(r.waits) > 12 {
		return r.leave(0)
	}
	return nil
}

// leave ends a wait: by its context, or because it was called.
func (r *gatesRun) leave(which int) error {
	if len(r.waits) == 0 {
		return nil
	}
	i := which % len(r.waits)
	w := r.waits[i]
	r.waits = slices.Delete(r.waits, i, i+1)
	want := w.err
	if !w.called {
		want = errGaveUp
		w.gate.line = slices.DeleteFunc(w.gate.line, func(x *waitTwin) bool { return x == w })
		w.gate.serve()
	}
	if got := w.gate.gate.leave(w.waiter, errGaveUp); got != want {
		return fmt.Errorf("Acquire(%d) = %v after its context ended, want %v", w.n, got, want)
	}
	return nil
}

// same compares what can be seen.
func (r *gatesRun) same() error {
	if got := r.gates.Len(); got != len(r.twin.gates) {
		return fmt.Errorf("Len() = %d, want %d", got, len(r.twin.gates))
	}
	for _, g := range r.all {
		if got := g.gate.Available(); got != g.available {
			return fmt.Errorf("gate %v %q: Available() = %d, want %d", g.rid, g.stream, got, g.available)
		}
	}
	for i, w := range r.waits {
		if got := len(w.waiter.turn) == 1; got != w.called {
			return fmt.Errorf("wait %d for %d was called: %t, want %t", i, w.n, got, w.called)
		}
	}
	return nil
}

func TestGatesAreLikeTheirTwin(t *testing.T) {
	r := random(t)
	for steps := 0; steps < modelSteps()*6/10; {
		n, err := runGates(t.Context(), randomCode(r, 2*r.IntN(3000)))
		if err != nil {
			t.Fatal(err)
		}
		steps += n
	}
}

package flow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// modelKeys are the flows of the random tests: alike in all but one thing each.
var modelKeys = [...]Key{
	{RID: frame.Number(1)},
	{RID: frame.Number(1), XID: frame.Number(0)},
	{RID: frame.Number(1), XID: frame.Number(1)},
	{RID: frame.Number(0)},
	{RID: frame.Number(0), XID: frame.Number(1)},
	{RID: frame.UUID([16]byte{15: 1})},
	{RID: frame.UUID([16]byte{15: 1}), XID: frame.UUID([16]byte{})},
	{RID: frame.UUID([16]byte{7: 1})},
	{RID: frame.UUID([16]byte{})},
	{RID: frame.Number(1), XID: frame.UUID([16]byte{15: 1})},
	{RID: frame.Number(2)}, {RID: frame.Number(3)}, {RID: frame.Number(4)}, {RID: frame.Number(5)},
	{RID: frame.Number(6)}, {RID: frame.Number(7)},
}

var modelTypes = [...]frame.Type{
	frame.TypeChunk, frame.TypeEnd, frame.TypeReq, frame.TypeErr, frame.TypeLog, frame.TypeStreamStart,
	frame.TypeStreamEnd, frame.TypeCredit, frame.TypeHello, frame.TypeHeartbeat, frame.TypeRelayNotify,
	frame.TypeRelayState, frame.TypeCancel, frame.TypeCloseStream, frame.TypePolicy,
}

// Bits of a step's second byte beside the flow, and what the first byte says beside the type.
const (
	absoluteSeq = 1 << 4 // the third byte is the number, not where it is from the one due
	keepEnded   = 1 << 5 // flows that end are not cleaned up
	early       = 1 << 6 // another frame is offered before the run was released
	large       = 1 << 7

	doCleanup = 7 // else the step offers a frame
)

// A reorderRun does the same with a buffer and with its twin.
type reorderRun struct {
	program
	buffer *ReorderBuffer
	twin   *twin
	wire   []byte
	steps  uint32
}

// runReorder runs a program until its end and returns how many steps it took, and an error when
// buffer and twin differ.
func runReorder(code []byte) (steps int, err error) {
	r := reorderRun{program: program{code: code}}
	maxHeld, maxFlows, maxBytes := int(r.byte()%70), 1+int(r.byte()%18), 100*(1+int64(r.byte()))
	r.buffer = NewReorderBuffer(maxHeld, &ReorderOptions{MaxFlows: maxFlows, MaxHeldBytes: maxBytes})
	r.twin = newTwin(maxHeld, maxFlows, maxBytes)
	for !r.done() {
		if err := r.step(); err != nil {
			return int(r.steps), fmt.Errorf("step %d: %w", r.steps, err)
		}
		r.steps++
	}
	return int(r.steps), nil
}

func (r *reorderRun) step() error {
	what, how, seq := r.byte(), r.byte(), r.byte()
	key := modelKeys[how&15]
	if what&7 == doCleanup {
		r.buffer.Cleanup(key)
		r.twin.cleanup(key)
		return r.sameStats()
	}
	h := frame.Head{Type: modelTypes[int(what>>3)%len(modelTypes)], ID: key.RID, RoutingID: key.XID}
	h.Seq = r.seq(key, how, seq)
	ready, err := r.accept(h, how)
	if err != nil || !ready {
		return err
	}
	if how&early != 0 {
		if _, err := r.accept(h, how); err != nil {
			return err
		}
	}
	return r.release(h, how)
}

// seq chooses a number: given, or near the one that is due, which it is most of the time.
func (r *reorderRun) seq(key Key, how, code byte) uint64 {
	if how&absoluteSeq != 0 {
		return uint64(code)
	}
	due := uint64(0)
	if f := r.twin.flows[key]; f != nil {
		due = f.expected
	}
	if code < 100 {
		return due
	}
	return max(due+uint64(code%12), 2) - 2
}

// accept offers a frame to both.
func (r *reorderRun) accept(h frame.Head, how byte) (ready bool, err error) {
	r.wire = binary.BigEndian.AppendUint32(r.wire[:0], r.steps)
	if how&large != 0 {
		r.wire = append(r.wire, make([]byte, 1+r.steps%900)...)
	}
	want, wantErr := r.twin.accept(h, string(r.wire))
	ready, err = r.buffer.Accept(&h, r.wire)
	clear(r.wire) // what is held has to be a copy
	switch {
	case ready != want || (err == nil) != (wantErr == nil) || !errors.Is(err, wantErr):
		return false, fmt.Errorf("Accept(%v) = %t, %v, want %t, %v", h, ready, err, want, wantErr)
	case err != nil && wantErr != errUnreleased && !errors.Is(err, frame.ErrProtocol):
		return false, fmt.Errorf("Accept(%v) = %v, of kind %q", h, err, frame.KindOf(err))
	}
	return ready, r.sameStats()
}

// release delivers a frame and what follows it.
func (r *reorderRun) release(h frame.Head, how byte) error {
	for {
		if h.Type.Terminal() && how&keepEnded == 0 {
			r.buffer.Cleanup(KeyOf(h))
			r.twin.cleanup(KeyOf(h))
		}
		want, wantWire, wantOK := r.twin.release()
		head, wire, ok := r.buffer.Release()
		if head != want || string(wire) != wantWire || ok != wantOK {
			return fmt.Errorf("Release() = %v, %x, %t, want %v, %x, %t", head, wire, ok, want, wantWire, wantOK)
		}
		if err := r.sameStats(); err != nil || !ok {
			return err
		}
		h = head
	}
}

func (r *reorderRun) sameStats() error {
	if got, want := r.buffer.Stats(), r.twin.stats(); got != want {
		return fmt.Errorf("Stats() = %+v, want %+v", got, want)
	}
	return nil
}

// Requirements: S2, M3
func TestReorderBufferIsLikeItsTwin(t *testing.T) {
	r := random(t)
	for steps := 0; steps < modelSteps(); {
		code := randomCode(r, 3+3*r.IntN(4000))
		n, err := runReorder(code)
		if err != nil {
			t.Fatal(err)
		}
		steps += n
	}
}

package flow

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func assign(a *SeqAssigner, t frame.Type, k Key) uint64 {
	f := frame.Frame{Type: t, ID: k.RID, RoutingID: k.XID, Seq: 99}
	a.Assign(&f)
	return f.Seq
}

// Requirements: S2, M3
func TestAssignCountsEachFlowByItself(t *testing.T) {
	var a SeqAssigner
	for want := range uint64(3) {
		for _, k := range modelKeys {
			if got := assign(&a, frame.TypeChunk, k); got != want {
				t.Errorf("Assign(%v) = %d, want %d", k, got, want)
			}
		}
	}
}

func TestAssignSharesACounterBetweenTheTypesOfAFlow(t *testing.T) {
	var a SeqAssigner
	next := uint64(0)
	for _, typ := range modelTypes {
		got, want := assign(&a, typ, modelKeys[0]), uint64(99)
		if typ.Flow() {
			want = next
			next++
		}
		if got != want {
			t.Errorf("Assign(%v) = %d, want %d", typ, got, want)
		}
	}
	if next != 7 {
		t.Errorf("%d types are of flows, want 7", next)
	}
}

func TestRemoveBeginsAFlowAnew(t *testing.T) {
	var a SeqAssigner
	a.Remove(modelKeys[0]) // unknown
	for range 3 {
		assign(&a, frame.TypeChunk, modelKeys[0])
		assign(&a, frame.TypeChunk, modelKeys[1])
	}
	a.Remove(modelKeys[0])
	if got := assign(&a, frame.TypeReq, modelKeys[0]); got != 0 {
		t.Errorf("Assign after Remove = %d, want 0", got)
	}
	if got := assign(&a, frame.TypeChunk, modelKeys[1]); got != 3 {
		t.Errorf("Assign of the other flow = %d, want 3", got)
	}
}

// A self-loop answers on the flow of the request's body, which its END resets in between.
func TestAResponseOnTheFlowOfItsRequestBeginsAtZero(t *testing.T) {
	var a SeqAssigner
	b := NewReorderBuffer(0, nil)
	k := modelKeys[1]
	for _, typ := range []frame.Type{
		frame.TypeReq, frame.TypeChunk, frame.TypeEnd, frame.TypeStreamStart, frame.TypeChunk, frame.TypeEnd,
	} {
		h := frame.Head{Type: typ, ID: k.RID, RoutingID: k.XID, Seq: assign(&a, typ, k)}
		if ready, err := b.Accept(&h, nil); !ready || err != nil {
			t.Fatalf("Accept(%v) = %t, %v", h, ready, err)
		}
		if typ.Terminal() {
			a.Remove(k)
			b.Cleanup(k)
		}
	}
}

func TestAssignerForgetsTheFlowNotNumberedForTheLongestTime(t *testing.T) {
	a := NewSeqAssigner(&AssignerOptions{MaxFlows: 3})
	for _, k := range modelKeys[:3] {
		assign(a, frame.TypeReq, k)
	}
	assign(a, frame.TypeChunk, modelKeys[0])
	assign(a, frame.TypeReq, modelKeys[3]) // in the place of modelKeys[1]
	if got, want := a.Stats(), (AssignerStats{Flows: 3, ForgottenFlows: 1}); got != want {
		t.Errorf("Stats() = %+v, want %+v", got, want)
	}
	for i, want := range []uint64{0: 2, 2: 1, 3: 1} {
		if i == 1 {
			continue
		}
		if got := assign(a, frame.TypeChunk, modelKeys[i]); got != want {
			t.Errorf("Assign(flow %d) = %d, want %d", i, got, want)
		}
	}
	if got := assign(a, frame.TypeChunk, modelKeys[1]); got != 0 {
		t.Errorf("Assign(the forgotten flow) = %d, want 0", got)
	}
}

func TestAssignerRemembersSoManyFlowsUnlessToldOtherwise(t *testing.T) {
	var zero SeqAssigner
	for _, a := range []*SeqAssigner{&zero, NewSeqAssigner(nil), NewSeqAssigner(&AssignerOptions{MaxFlows: -1})} {
		for i := range uint64(8200) {
			assign(a, frame.TypeReq, Key{RID: frame.Number(i)})
		}
		if got, want := a.Stats(), (AssignerStats{Flows: 8192, ForgottenFlows: 8}); got != want {
			t.Errorf("Stats() = %+v, want %+v", got, want)
		}
	}
}

// Requirements: S2, M3
func TestAssignerIsLikeItsTwin(t *testing.T) {
	const maxFlows = 10
	r := random(t)
	a := NewSeqAssigner(&AssignerOptions{MaxFlows: maxFlows})
	twin := newTwin(0, maxFlows, 0)
	for step := range modelSteps() / 4 {
		k := modelKeys[r.IntN(len(modelKeys))]
		if r.IntN(20) == 0 {
			a.Remove(k)
			twin.cleanup(k)
		}
		h := frame.Head{Type: frame.TypeChunk, ID: k.RID, RoutingID: k.XID}
		if f := twin.flows[k]; f != nil {
			h.Seq = f.expected
		}
		twin.accept(h, "")
		if got := assign(a, h.Type, k); got != h.Seq {
			t.Fatalf("step %d: Assign(%v) = %d, want %d", step, k, got, h.Seq)
		}
		want := AssignerStats{Flows: len(twin.flows), ForgottenFlows: twin.forgotten}
		if got := a.Stats(); got != want {
			t.Fatalf("step %d: Stats() = %+v, want %+v", step, got, want)
		}
	}
}

func TestNextIsAssignForAHead(t *testing.T) {
	var a SeqAssigner
	for want := uint64(0); want < 6; want += 2 {
		if got := assign(&a, frame.TypeChunk, modelKeys[0]); got != want {
			t.Errorf("Assign = %d, want %d", got, want)
		}
		if got := a.Next(modelKeys[0]); got != want+1 {
			t.Errorf("Next = %d, want %d", got, want+1)
		}
	}
}

// A flow whose only number is taken back is as if it had never been.
func TestTakeBackGivesTheNumberAgain(t *testing.T) {
	var a SeqAssigner
	k := modelKeys[0]
	a.TakeBack(k) // unknown
	a.Next(k)
	a.TakeBack(k)
	if n := a.Stats().Flows; n != 0 {
		t.Errorf("%d flows", n)
	}
	for want := range uint64(3) {
		a.TakeBack(modelKeys[1])
		if got := a.Next(k); got != want {
			t.Errorf("Next = %d, want %d", got, want)
		}
		a.Next(k)
		a.TakeBack(k)
	}
}

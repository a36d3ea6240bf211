package frame_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestCancel(t *testing.T) {
	for _, want := range []frame.CancelReason{
		{},
		{Message: []byte("step 2 failed")},
		{Code: []byte("CANCELLED"), Attribution: frame.AttributionUser, Message: []byte("Cancelled by user")},
	} {
		for _, force := range []bool{false, true} {
			f, err := frame.NewCancel(sampleID, force, want)
			if err != nil {
				t.Fatal(err)
			}
			got := decoded(t, encoded(t, &f))
			reason := got.CancelReason()
			if got.ForceKill != frame.Some(force) || string(reason.Code) != string(want.Code) ||
				reason.Attribution != want.Attribution || string(reason.Message) != string(want.Message) {
				t.Errorf("NewCancel(%v, %+v) = %+v with reason %+v", force, want, got, reason)
			}
		}
	}
}

func TestCancelReasonTakesEmptyAndUnknownAsAbsent(t *testing.T) {
	var b frame.MetaBuilder
	b.Text("code", "")
	b.Text("attribution_class", "operator")
	b.Int("message", 1)
	f := frame.Frame{Type: frame.TypeCancel, Meta: built(t, &b)}
	if got := f.CancelReason(); got.Code != nil || got.Attribution != frame.NoAttribution || got.Message != nil {
		t.Errorf("CancelReason = %+v, want none", got)
	}
	empty, err := frame.NewCancel(sampleID, false, frame.CancelReason{Code: []byte{}, Message: []byte{}})
	if err != nil || empty.Meta.IsSet() {
		t.Errorf("NewCancel with empty texts = %+v, %v, want no meta", empty, err)
	}
}

func TestNewCancelRefuses(t *testing.T) {
	for _, r := range []frame.CancelReason{{Attribution: 99}, {Code: []byte{0xff}}, {Message: []byte{0xff}}} {
		if _, err := frame.NewCancel(sampleID, false, r); frame.KindOf(err) != frame.ErrEncode {
			t.Errorf("NewCancel(%+v) = %v, want encode", r, err)
		}
	}
}

package frame_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestReq(t *testing.T) {
	f := frame.NewReq(sampleID, []byte("cap:effect=none"))
	got := decoded(t, encoded(t, &f))
	if got.Type != frame.TypeReq || got.ID != sampleID || string(got.Cap) != "cap:effect=none" {
		t.Errorf("NewReq = %+v", got)
	}
	if got.Payload == nil || len(got.Payload) != 0 {
		t.Errorf("payload = %v, want an empty one that is there", got.Payload)
	}
}

func TestReqInfo(t *testing.T) {
	for _, want := range []frame.ReqInfo{
		{},
		{TargetCartridge: []byte("demo")},
		{ParentRID: sampleID},
		{ParentRID: frame.Number(9)},
		{TargetCartridge: []byte("demo"), ParentRID: frame.Number(0)},
	} {
		f := frame.NewReq(sampleID, []byte("cap:x"))
		f.Meta = metaOf(t, want)
		got := decoded(t, encoded(t, &f)).ReqInfo()
		if string(got.TargetCartridge) != string(want.TargetCartridge) || got.ParentRID != want.ParentRID {
			t.Errorf("ReqInfo = %+v, want %+v", got, want)
		}
	}
}

func TestReqInfoPassesOverWrongKinds(t *testing.T) {
	for _, parent := range []string{"20", "48 0000000000000000", "61 31", "f6", "f9 3c00"} {
		var b frame.MetaBuilder
		b.Bytes("target_cartridge", []byte("demo"))
		b.Raw("parent_rid", unhex(t, parent))
		f := frame.Frame{Type: frame.TypeReq, Meta: built(t, &b)}
		if got := f.ReqInfo(); got.TargetCartridge != nil || !got.ParentRID.IsZero() {
			t.Errorf("ReqInfo with parent %s = %+v, want none", parent, got)
		}
	}
	none := frame.Frame{Type: frame.TypeReq}
	if got := none.ReqInfo(); got.TargetCartridge != nil || !got.ParentRID.IsZero() {
		t.Errorf("ReqInfo without meta = %+v", got)
	}
}

func TestReqInfoRefusesNumbersThatPeersCannotRead(t *testing.T) {
	var b frame.MetaBuilder
	frame.ReqInfo{ParentRID: frame.Number(1 << 63)}.Put(&b)
	if _, err := b.Meta(); frame.KindOf(err) != frame.ErrEncode {
		t.Errorf("a parent of 2^63 = %v, want encode", err)
	}
}

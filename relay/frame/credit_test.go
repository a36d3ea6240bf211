package frame_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestCredit(t *testing.T) {
	for _, d := range []frame.Direction{frame.NoDirection, frame.RequestDirection, frame.ResponseDirection} {
		for _, stream := range [][]byte{nil, []byte("out")} {
			f := frame.NewCredit(sampleID, stream, 1<<64-1, d)
			got := decoded(t, encoded(t, &f))
			if got.Type != frame.TypeCredit || got.Credit != frame.Some[uint64](1<<64-1) || (got.StreamID == nil) != (stream == nil) {
				t.Errorf("NewCredit(%s, %v) = %+v", stream, d, got)
			}
			if got.CreditDirection() != d {
				t.Errorf("CreditDirection = %v, want %v", got.CreditDirection(), d)
			}
		}
	}
}

func TestCreditDirection(t *testing.T) {
	for name, want := range map[string]frame.Direction{
		"request": frame.RequestDirection, "response": frame.ResponseDirection, "": frame.NoDirection, "Request": frame.NoDirection, "both": frame.NoDirection,
	} {
		var b frame.MetaBuilder
		b.Text("credit_dir", name)
		f := frame.Frame{Type: frame.TypeCredit, Meta: built(t, &b)}
		if got := f.CreditDirection(); got != want || want != frame.NoDirection && got.String() != name {
			t.Errorf("CreditDirection of %q = %v, want %v", name, got, want)
		}
	}
	var b frame.MetaBuilder
	b.Bytes("credit_dir", []byte("request"))
	f := frame.Frame{Type: frame.TypeCredit, Meta: built(t, &b)}
	if got := f.CreditDirection(); got != frame.NoDirection {
		t.Errorf("CreditDirection of a byte string = %v, want none", got)
	}
	unknown := frame.NewCredit(sampleID, nil, 1, 99)
	if unknown.CreditDirection() != frame.NoDirection || frame.Direction(99).String() != "" {
		t.Error("an unknown direction counts as one")
	}
}

func TestDirectionRefusesNone(t *testing.T) {
	var b frame.MetaBuilder
	frame.NoDirection.Put(&b)
	if _, err := b.Meta(); frame.KindOf(err) != frame.ErrEncode {
		t.Errorf("a meta without direction = %v, want encode", err)
	}
}

package frame_test

import (
	"math"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestEnd(t *testing.T) {
	for _, want := range []frame.EndInfo{
		{},
		{ExitCode: frame.Some[int64](0)},
		{ExitCode: frame.Some[int64](math.MinInt64), Message: []byte("bad")},
		{ExitCode: frame.Some[int64](0), Progress: frame.Some(0.5), Message: []byte("half done")},
	} {
		f, err := frame.NewEnd(sampleID, want)
		if err != nil {
			t.Fatal(err)
		}
		got := decoded(t, encoded(t, &f))
		if got.EOF != frame.Some(true) {
			t.Errorf("NewEnd has eof %v, want true", got.EOF)
		}
		info := got.EndInfo()
		if info.ExitCode != want.ExitCode || info.Progress != want.Progress || string(info.Message) != string(want.Message) {
			t.Errorf("EndInfo = %+v, want %+v", info, want)
		}
	}
}

func TestBodyEndSaysNothing(t *testing.T) {
	f := frame.NewBodyEnd(sampleID)
	got := decoded(t, encoded(t, &f))
	if got.EOF != frame.Some(true) || got.Meta.IsSet() || got.EndInfo().Succeeded() {
		t.Errorf("NewBodyEnd = %+v", got)
	}
}

func TestEndSuccessAndProgress(t *testing.T) {
	ok, failed := frame.Some[int64](0), frame.Some[int64](1)
	for _, c := range []struct {
		info      frame.EndInfo
		succeeded bool
		progress  float64
		known     bool
	}{
		{frame.EndInfo{}, false, 0, false},
		{frame.EndInfo{ExitCode: ok}, true, 1, true},
		{frame.EndInfo{ExitCode: ok, Progress: frame.Some(0.5)}, true, 0.5, true},
		{frame.EndInfo{ExitCode: failed}, false, 0, false},
		{frame.EndInfo{ExitCode: failed, Progress: frame.Some(0.25)}, false, 0.25, true},
	} {
		progress, known := c.info.FinalProgress()
		if c.info.Succeeded() != c.succeeded || progress != c.progress || known != c.known {
			t.Errorf("%+v: Succeeded = %v, FinalProgress = %v, %v", c.info, c.info.Succeeded(), progress, known)
		}
	}
}

func TestEndInfoPassesOverWrongKinds(t *testing.T) {
	var b frame.MetaBuilder
	b.Float("exit_code", 0)
	b.Float("progress", 1.5)
	b.Bytes("message", []byte("x"))
	f := frame.Frame{Type: frame.TypeEnd, Meta: built(t, &b)}
	if got := f.EndInfo(); got.ExitCode.IsSet() || got.Progress.IsSet() || got.Message != nil {
		t.Errorf("EndInfo = %+v, want none", got)
	}
}

func TestEndProgressMayBeAnInteger(t *testing.T) {
	var b frame.MetaBuilder
	b.Int("progress", 1)
	f := frame.Frame{Type: frame.TypeEnd, Meta: built(t, &b)}
	if got := f.EndInfo().Progress; got != frame.Some(1.0) {
		t.Errorf("progress = %v, want 1", got)
	}
}

func TestNewEndRefuses(t *testing.T) {
	for _, e := range []frame.EndInfo{
		{Progress: frame.Some(1.01)}, {Progress: frame.Some(-0.01)}, {Progress: frame.Some(math.NaN())}, {Message: []byte{0xff}},
	} {
		if _, err := frame.NewEnd(sampleID, e); frame.KindOf(err) != frame.ErrEncode {
			t.Errorf("NewEnd(%+v) = %v, want encode", e, err)
		}
	}
}

package frame_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// Requirements: N1, M1
func TestNotify(t *testing.T) {
	want := frame.Notify{
		Manifest: []byte(`{"caps":[]}`),
		Limits:   frame.Limits{MaxFrame: 500_000, MaxChunk: 1000, MaxReorderBuffer: 7, InitialCredit: 5},
	}
	f, err := frame.NewRelayNotify(want)
	if err != nil {
		t.Fatal(err)
	}
	if f.ID != frame.Number(0) {
		t.Errorf("NewRelayNotify has id %v, want 0", f.ID)
	}
	for _, name := range []string{"manifest", "max_frame", "max_chunk", "max_reorder_buffer", "initial_credit"} {
		if _, ok := f.Meta.Lookup(name); !ok {
			t.Errorf("NewRelayNotify leaves out %s", name)
		}
	}
	got, err := decoded(t, encoded(t, &f)).Notify()
	if err != nil || string(got.Manifest) != string(want.Manifest) || got.Limits != want.Limits {
		t.Errorf("Notify = %+v, %v, want %+v", got, err, want)
	}
}

func TestNotifyWithoutInitialCredit(t *testing.T) {
	var b frame.MetaBuilder
	b.Bytes("manifest", []byte("{}"))
	for _, name := range []string{"max_frame", "max_chunk", "max_reorder_buffer"} {
		b.Int(name, 9)
	}
	f := frame.Frame{Type: frame.TypeRelayNotify, ID: frame.Number(0), Meta: built(t, &b)}
	n, err := f.Notify()
	want := frame.Limits{MaxFrame: 9, MaxChunk: 9, MaxReorderBuffer: 9, InitialCredit: frame.DefaultCredit}
	if err != nil || n.Limits != want {
		t.Errorf("Notify = %+v, %v, want %+v", n, err, want)
	}
}

// Requirement: M1
func TestNotifyRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*frame.MetaBuilder)
		want   string
	}{
		{"no manifest", without("manifest"), `"manifest"`},
		{"a manifest that is text", func(b *frame.MetaBuilder) { b.Text("manifest", "{}") }, `"manifest"`},
		{"no max_frame", without("max_frame"), `"max_frame"`},
		{"max_frame 0", func(b *frame.MetaBuilder) { b.Int("max_frame", 0) }, `"max_frame"`},
		{"max_chunk negative", func(b *frame.MetaBuilder) { b.Int("max_chunk", -3) }, `"max_chunk"`},
		{"max_reorder_buffer as text", func(b *frame.MetaBuilder) { b.Text("max_reorder_buffer", "x") }, `"max_reorder_buffer"`},
		{"initial_credit 0", func(b *frame.MetaBuilder) { b.Int("initial_credit", 0) }, `"initial_credit"`},
		{"initial_credit as text", func(b *frame.MetaBuilder) { b.Text("initial_credit", "9") }, `"initial_credit"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := frame.Frame{Type: frame.TypeRelayNotify, ID: frame.Number(0), Meta: helloMeta(t, c.change)}
			if _, err := f.Notify(); !errors.Is(err, frame.ErrProtocol) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Notify = %v, want protocol: %s", err, c.want)
			}
		})
	}
	policy := frame.NewPolicy(nil)
	if _, err := policy.Notify(); !errors.Is(err, frame.ErrProtocol) || !strings.Contains(err.Error(), "a policy frame") {
		t.Errorf("Notify of a policy = %v, want protocol", err)
	}
	none := frame.Frame{Type: frame.TypeRelayNotify, ID: frame.Number(0)}
	if _, err := none.Notify(); !errors.Is(err, frame.ErrProtocol) {
		t.Errorf("Notify without meta = %v, want protocol", err)
	}
}

// Requirement: M2
func TestNotifyPartsAreReadApart(t *testing.T) {
	f := frame.Frame{Type: frame.TypeRelayNotify, ID: frame.Number(0), Meta: helloMeta(t, without("max_frame"))}
	if manifest, ok := f.Manifest(); !ok || string(manifest) != "{}" {
		t.Errorf("Manifest = %s, %v, without readable limits", manifest, ok)
	}
	f.Meta = helloMeta(t, without("manifest"))
	if limits, err := f.NotifyLimits(); err != nil || limits != frame.DefaultLimits() {
		t.Errorf("NotifyLimits = %+v, %v, without a manifest", limits, err)
	}
	if _, ok := f.Manifest(); ok {
		t.Error("Manifest found one that is no byte string")
	}
}

func TestNewRelayNotifyRefuses(t *testing.T) {
	if _, err := frame.NewRelayNotify(frame.Notify{Manifest: []byte("{}")}); frame.KindOf(err) != frame.ErrEncode {
		t.Errorf("NewRelayNotify without limits = %v, want encode", err)
	}
}

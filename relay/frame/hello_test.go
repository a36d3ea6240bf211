package frame_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// helloMeta returns the meta of a good HELLO or RELAY_NOTIFY, changed.
func helloMeta(tb testing.TB, change func(*frame.MetaBuilder)) frame.Meta {
	tb.Helper()
	var b frame.MetaBuilder
	frame.Hello{Limits: frame.DefaultLimits(), Manifest: []byte("{}"), Pools: []byte("{}")}.Put(&b)
	change(&b)
	return built(tb, &b)
}

// without takes a name out of a meta by putting something of no use in its place.
func without(name string) func(*frame.MetaBuilder) {
	return func(b *frame.MetaBuilder) { b.Raw(name, []byte{0xf6}) }
}

func TestHello(t *testing.T) {
	want := frame.Hello{
		Limits:   frame.Limits{MaxFrame: 1, MaxChunk: 2, MaxReorderBuffer: 3, InitialCredit: math.MaxInt64},
		Manifest: []byte("{}"), Pools: []byte("[]"), HandlerCapacity: frame.Some[uint64](0),
	}
	f, err := frame.NewHello(want)
	if err != nil {
		t.Fatal(err)
	}
	if f.ID != frame.Number(0) || f.Type != frame.TypeHello {
		t.Errorf("NewHello = %+v", f)
	}
	got, err := decoded(t, encoded(t, &f)).Hello()
	if err != nil || got.Limits != want.Limits || string(got.Manifest) != "{}" || string(got.Pools) != "[]" || got.HandlerCapacity != want.HandlerCapacity {
		t.Errorf("Hello = %+v, %v, want %+v", got, err, want)
	}
	if manifest, ok := f.Manifest(); !ok || string(manifest) != "{}" {
		t.Errorf("Manifest = %s, %v", manifest, ok)
	}
}

func TestHelloOfAHostHasNoManifest(t *testing.T) {
	f, err := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	h, err := f.Hello()
	if err != nil || h.Manifest != nil || h.Pools != nil || h.HandlerCapacity.IsSet() {
		t.Errorf("Hello = %+v, %v", h, err)
	}
}

func TestHelloRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*frame.MetaBuilder)
		want   string
	}{
		{"no version", without("version"), "without a version"},
		{"a version that is text", func(b *frame.MetaBuilder) { b.Text("version", "4") }, "without a version"},
		{"version 3", func(b *frame.MetaBuilder) { b.Int("version", 3) }, "version 3 in meta, want version 4"},
		{"version -4", func(b *frame.MetaBuilder) { b.Int("version", -4) }, "version -4 in meta, want version 4"},
		{"version 260", func(b *frame.MetaBuilder) { b.Int("version", 260) }, "version 260 in meta, want version 4"},
		{"version 2^64-1", func(b *frame.MetaBuilder) { b.Uint("version", math.MaxUint64) }, "version 18446744073709551615 in meta"},
		{"version -2^64", func(b *frame.MetaBuilder) { b.Raw("version", unhex(t, "3b ffffffffffffffff")) }, "version below -2^63 in meta"},
		{"no max_frame", without("max_frame"), `"max_frame" is no integer`},
		{"max_chunk as text", func(b *frame.MetaBuilder) { b.Text("max_chunk", "1") }, `"max_chunk" is no integer`},
		{"max_chunk as float", func(b *frame.MetaBuilder) { b.Float("max_chunk", 1) }, `"max_chunk" is no integer`},
		{"max_reorder_buffer 0", func(b *frame.MetaBuilder) { b.Int("max_reorder_buffer", 0) }, `"max_reorder_buffer" is 0, want`},
		{"max_frame negative", func(b *frame.MetaBuilder) { b.Int("max_frame", -1) }, `"max_frame" is -1, want`},
		{"initial_credit 0", func(b *frame.MetaBuilder) { b.Int("initial_credit", 0) }, `"initial_credit" is 0, want`},
		{"pools as text", func(b *frame.MetaBuilder) { b.Text("pools", "{}") }, `"pools" is no byte string`},
		{"pools null", without("pools"), `"pools" is no byte string`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := frame.Frame{Type: frame.TypeHello, ID: frame.Number(0), Meta: helloMeta(t, c.change)}
			if _, err := f.Hello(); !errors.Is(err, frame.ErrHandshake) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Hello = %v, want handshake: %s", err, c.want)
			}
		})
	}
}

func TestHelloRefusesAbsentKeys(t *testing.T) {
	for _, name := range []string{"version", "max_frame", "max_chunk", "max_reorder_buffer", "initial_credit"} {
		var b frame.MetaBuilder
		for _, other := range []string{"version", "max_frame", "max_chunk", "max_reorder_buffer", "initial_credit"} {
			if other != name {
				b.Int(other, 4)
			}
		}
		f := frame.Frame{Type: frame.TypeHello, ID: frame.Number(0), Meta: built(t, &b)}
		if _, err := f.Hello(); !errors.Is(err, frame.ErrHandshake) || !strings.Contains(err.Error(), "without") {
			t.Errorf("Hello without %s = %v, want handshake", name, err)
		}
	}
	none := frame.Frame{Type: frame.TypeHello, ID: frame.Number(0)}
	if _, err := none.Hello(); !errors.Is(err, frame.ErrHandshake) {
		t.Errorf("Hello without meta = %v, want handshake", err)
	}
	req := frame.NewReq(sampleID, nil)
	if _, err := req.Hello(); !errors.Is(err, frame.ErrHandshake) || !strings.Contains(err.Error(), "a req frame where a hello frame is due") {
		t.Errorf("Hello of a req = %v, want handshake", err)
	}
}

func TestNewHelloRefuses(t *testing.T) {
	for _, h := range []frame.Hello{
		{},
		{Limits: frame.Limits{MaxFrame: 1, MaxChunk: 1, MaxReorderBuffer: 1}},
		{Limits: frame.Limits{MaxFrame: 1 << 63, MaxChunk: 1, MaxReorderBuffer: 1, InitialCredit: 1}},
		{Limits: frame.DefaultLimits(), HandlerCapacity: frame.Some[uint64](1 << 63)},
	} {
		if _, err := frame.NewHello(h); frame.KindOf(err) != frame.ErrEncode {
			t.Errorf("NewHello(%+v) = %v, want encode", h, err)
		}
	}
}

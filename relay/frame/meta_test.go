package frame_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// metaFrom returns a meta as it comes in a frame.
func metaFrom(tb testing.TB, item string) frame.Meta {
	tb.Helper()
	return decoded(tb, heartbeat(tb, "05"+item)).Meta
}

func TestMetaLookup(t *testing.T) {
	m := metaFrom(t, "a6 61 74 61 78 61 62 41 00 61 69 20 61 75 07 61 66 f9 3800 61 79 f5")
	if v, ok := m.Text("t"); !ok || string(v) != "x" {
		t.Errorf("Text = %q, %v", v, ok)
	}
	if v, ok := m.Bytes("b"); !ok || string(v) != "\x00" {
		t.Errorf("Bytes = %q, %v", v, ok)
	}
	if v, ok := m.Int("i"); !ok || v != -1 {
		t.Errorf("Int = %d, %v", v, ok)
	}
	if v, ok := m.Uint("u"); !ok || v != 7 {
		t.Errorf("Uint = %d, %v", v, ok)
	}
	if v, ok := m.Number("f"); !ok || v != 0.5 {
		t.Errorf("Number = %v, %v", v, ok)
	}
	if v, ok := m.Bool("y"); !ok || !v {
		t.Errorf("Bool = %v, %v", v, ok)
	}
	for _, absent := range []string{"", "T", "tt", "z"} {
		if v, ok := m.Lookup(absent); ok || v.Kind() != frame.NoValue {
			t.Errorf("Lookup(%q) found %x", absent, v.Raw())
		}
	}
}

func TestMetaAllGoesOverNamesInOrder(t *testing.T) {
	m := metaFrom(t, "a5 61 62 01 07 02 61 61 03 61 62 04 41 61 05")
	var names []string
	for name := range m.All() {
		names = append(names, string(name))
	}
	if want := []string{"b", "a", "b"}; !slices.Equal(names, want) {
		t.Errorf("All = %q, want %q", names, want)
	}
	for range m.All() {
		break // ends early without harm
	}
	for range (frame.Meta{}).All() {
		t.Error("no meta has an entry")
	}
}

func TestMetaUnsetEmptyAndRaw(t *testing.T) {
	if (frame.Meta{}).IsSet() || (frame.Meta{}).Raw() != nil || (frame.Meta{}).Clone().IsSet() {
		t.Error("the zero Meta is one")
	}
	m := metaFrom(t, "a0")
	if !m.IsSet() || !m.Clone().IsSet() || !bytes.Equal(m.Raw(), []byte{0xa0}) {
		t.Error("an empty meta is none")
	}
	odd := metaFrom(t, "bf 61 62 1801 61 61 02 ff")
	if want := unhex(t, "bf 61 62 1801 61 61 02 ff"); !bytes.Equal(odd.Raw(), want) {
		t.Errorf("Raw = %x, want %x as it was received", odd.Raw(), want)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		item string
		kind frame.ValueKind
		num  float64 // for integers and floats
	}{
		{"00", frame.IntValue, 0},
		{"1b ffffffffffffffff", frame.IntValue, 18446744073709551615},
		{"20", frame.IntValue, -1},
		{"3b ffffffffffffffff", frame.IntValue, -18446744073709551616},
		{"40", frame.BytesValue, 0},
		{"5f ff", frame.BytesValue, 0},
		{"60", frame.TextValue, 0},
		{"7f 61 61 ff", frame.TextValue, 0},
		{"80", frame.ArrayValue, 0},
		{"a0", frame.MapValue, 0},
		{"c1 00", frame.TagValue, 0},
		{"f4", frame.BoolValue, 0},
		{"f5", frame.BoolValue, 0},
		{"f6", frame.NullValue, 0},
		{"f7", frame.NullValue, 0},
		{"e0", frame.SimpleValue, 0},
		{"f8 ff", frame.SimpleValue, 0},
		{"f9 0001", frame.FloatValue, 0x1p-24},
		{"f9 03ff", frame.FloatValue, 1023 * 0x1p-24},
		{"f9 0400", frame.FloatValue, 0x1p-14},
		{"f9 7bff", frame.FloatValue, 65504},
		{"f9 c000", frame.FloatValue, -2},
		{"f9 7c00", frame.FloatValue, math.Inf(1)},
		{"f9 fc00", frame.FloatValue, math.Inf(-1)},
		{"fa 3e800000", frame.FloatValue, 0.25},
		{"fb 3fb999999999999a", frame.FloatValue, 0.1},
	} {
		v, ok := metaFrom(t, "a1 61 61"+c.item).Lookup("a")
		if !ok || v.Kind() != c.kind || !bytes.Equal(v.Raw(), unhex(t, c.item)) {
			t.Errorf("%s: Lookup = %x, %v of kind %v, want kind %v", c.item, v.Raw(), ok, v.Kind(), c.kind)
		}
		checkReadings(t, c.item, v, c.num)
	}
}

// checkReadings expects a value to read as its kind and as no other.
func checkReadings(t *testing.T, item string, v frame.Value, num float64) {
	t.Helper()
	kind := v.Kind()
	_, text := v.Text()
	_, bytes := v.Bytes()
	_, isMap := v.Map()
	_, truth := v.Bool()
	f, float := v.Float()
	n, number := v.Number()
	if text != (kind == frame.TextValue) || bytes != (kind == frame.BytesValue) || isMap != (kind == frame.MapValue) ||
		truth != (kind == frame.BoolValue) || float != (kind == frame.FloatValue) ||
		number != (kind == frame.FloatValue || kind == frame.IntValue) {
		t.Errorf("%s reads as another kind than %v", item, kind)
	}
	if number && n != num || float && f != num {
		t.Errorf("%s: Number = %v, Float = %v, want %v", item, n, f, num)
	}
}

func TestValueIntegerRanges(t *testing.T) {
	for _, c := range []struct {
		item   string
		i      int64
		isInt  bool
		u      uint64
		isUint bool
	}{
		{"1b 7fffffffffffffff", math.MaxInt64, true, math.MaxInt64, true},
		{"1b 8000000000000000", 0, false, 1 << 63, true},
		{"3b 7fffffffffffffff", math.MinInt64, true, 0, false},
		{"3b 8000000000000000", 0, false, 0, false},
		{"f9 3c00", 0, false, 0, false},
		{"c1 05", 0, false, 0, false},
	} {
		v, _ := metaFrom(t, "a1 61 61"+c.item).Lookup("a")
		i, isInt := v.Int()
		u, isUint := v.Uint()
		if isInt != c.isInt || isInt && i != c.i || isUint != c.isUint || isUint && u != c.u {
			t.Errorf("%s: Int = %d, %v, Uint = %d, %v", c.item, i, isInt, u, isUint)
		}
	}
}

func TestNotANumberReadsAsSuch(t *testing.T) {
	for _, item := range []string{"f9 7e00", "fa 7fc00000", "fb 7ff8000000000000"} {
		v, _ := metaFrom(t, "a1 61 61"+item).Lookup("a")
		if f, ok := v.Float(); !ok || !math.IsNaN(f) {
			t.Errorf("%s: Float = %v, %v", item, f, ok)
		}
	}
}

func TestValueMapAndUnmarshal(t *testing.T) {
	m := metaFrom(t, "a2 61 61 a1 61 6b 83 01 02 f7 61 64"+nested(62))
	v, _ := m.Lookup("a")
	inner, ok := v.Map()
	if !ok {
		t.Fatal("Map = false")
	}
	list, _ := inner.Lookup("k")
	var numbers []*int
	if err := list.Unmarshal(&numbers); err != nil || len(numbers) != 3 || *numbers[1] != 2 || numbers[2] != nil {
		t.Errorf("Unmarshal = %v, %v", numbers, err)
	}
	var text string
	if err := list.Unmarshal(&text); !errors.Is(err, frame.ErrDecode) {
		t.Errorf("Unmarshal of a list into a string = %v, want decode", err)
	}
	if err := (frame.Value{}).Unmarshal(&text); !errors.Is(err, frame.ErrDecode) {
		t.Errorf("Unmarshal of no value = %v, want decode", err)
	}
	deep, _ := m.Lookup("d")
	var nest any
	if err := deep.Unmarshal(&nest); err != nil {
		t.Errorf("Unmarshal of the deepest value = %v", err)
	}
}

func TestZeroValueIsNone(t *testing.T) {
	var v frame.Value
	checkReadings(t, "none", v, 0)
	if v.Raw() != nil || v.Kind() != frame.NoValue {
		t.Error("the zero Value is one")
	}
}

func TestMetaBuilder(t *testing.T) {
	var b frame.MetaBuilder
	for range 2 { // a builder that is used again gives the same
		b.Reset()
		b.Text("zz", "old")
		b.Bool("bool", true)
		b.Float("float", 0.5)
		b.Int("int", -300)
		b.Bytes("bytes", nil)
		b.Uint("uint", 1<<64-1)
		b.Raw("raw", unhex(t, "9f 1801 ff"))
		b.Any("any", map[string]int{"y": 1, "x": 2})
		b.Text("zz", "new")
		want := unhex(t, "a8 63 616e79 a2 6178 02 6179 01 64 626f6f6c f5 65 6279746573 40 65 666c6f6174 fb 3fe0000000000000"+
			"63 696e74 39 012b 63 726177 81 01 64 75696e74 1b ffffffffffffffff 62 7a7a 63 6e6577")
		if got := built(t, &b).Raw(); !bytes.Equal(got, want) {
			t.Errorf("Meta = %x, want %x", got, want)
		}
	}
	b.Reset()
	if got := built(t, &b); !got.IsSet() || !bytes.Equal(got.Raw(), []byte{0xa0}) {
		t.Errorf("Meta of nothing = %x, want an empty map", got.Raw())
	}
}

func TestMetaBuilderRefuses(t *testing.T) {
	for name, put := range map[string]func(*frame.MetaBuilder){
		"a name not UTF-8":         func(b *frame.MetaBuilder) { b.Int("\xff", 1) },
		"a text not UTF-8":         func(b *frame.MetaBuilder) { b.Text("a", "\xff") },
		"an item cut short":        func(b *frame.MetaBuilder) { b.Raw("a", []byte{0x61}) },
		"no item":                  func(b *frame.MetaBuilder) { b.Raw("a", nil) },
		"two items":                func(b *frame.MetaBuilder) { b.Raw("a", []byte{0, 0}) },
		"an item not UTF-8":        func(b *frame.MetaBuilder) { b.Raw("a", []byte{0x61, 0xff}) },
		"an item nested too deep":  func(b *frame.MetaBuilder) { b.Raw("a", unhex(t, nested(63))) },
		"a value that has no CBOR": func(b *frame.MetaBuilder) { b.Any("a", func() {}) },
	} {
		t.Run(name, func(t *testing.T) {
			var b frame.MetaBuilder
			put(&b)
			b.Int("b", 1) // what comes later changes nothing
			if _, err := b.Meta(); frame.KindOf(err) != frame.ErrEncode || errors.Is(err, frame.ErrDecode) {
				t.Errorf("Meta = %v, want encode alone", err)
			}
			b.Reset()
			if _, err := b.Meta(); err != nil {
				t.Errorf("Meta after Reset = %v", err)
			}
		})
	}
}

func TestMetaBuilderTakesTheDeepestItem(t *testing.T) {
	var b frame.MetaBuilder
	b.Raw("a", unhex(t, nested(62)))
	f := frame.Frame{Type: frame.TypeHeartbeat, ID: sampleID, Meta: built(t, &b)}
	decoded(t, encoded(t, &f))
}

func TestMetaOfManyNames(t *testing.T) {
	var b frame.MetaBuilder
	for i := range 300 {
		b.Int(strings.Repeat("n", i+1), int64(i))
	}
	f := frame.Frame{Type: frame.TypeHeartbeat, ID: sampleID, Meta: built(t, &b)}
	got := decoded(t, encoded(t, &f)).Meta
	for i := range 300 {
		if n, ok := got.Int(strings.Repeat("n", i+1)); !ok || n != int64(i) {
			t.Fatalf("Int of name %d = %d, %v", i, n, ok)
		}
	}
}

// The last of several values of a name counts for what reads more than one name, too.
func TestTheLastOfSeveralValuesIsPicked(t *testing.T) {
	f := frame.Frame{Type: frame.TypeCancel, ID: sampleID, Meta: metaFromBody(t,
		"a4 64 636f6465 61 61 67 6d657373616765 61 6d 64 636f6465 61 62 67 6d657373616765 f6")}
	if r := f.CancelReason(); string(r.Code) != "b" || r.Message != nil {
		t.Errorf("CancelReason = %q, %q, want b and none", r.Code, r.Message)
	}
}

// metaFromBody returns the meta that a frame with these bytes under key 5 has.
func metaFromBody(tb testing.TB, hex string) frame.Meta {
	tb.Helper()
	return decoded(tb, heartbeat(tb, "05"+hex)).Meta
}

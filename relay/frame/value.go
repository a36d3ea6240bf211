package frame

import (
	"encoding/binary"
	"math"

	codec "github.com/fxamacker/cbor/v2"

	"github.com/cosim-go/cosim/relay/internal/cbor"
)

// A Value is one CBOR item of a frame's meta. The zero Value is none: nothing can be read from
// it.
type Value struct {
	raw []byte // one well-formed item, or nil
}

// A ValueKind says what a [Value] is.
type ValueKind uint8

// The kinds of values. An undefined value is a null.
const (
	NoValue ValueKind = iota
	IntValue
	BytesValue
	TextValue
	ArrayValue
	MapValue
	TagValue
	BoolValue
	NullValue
	FloatValue
	SimpleValue // a simple value that is none of the above
)

// Kind returns the kind of the value. A tagged value is a tag, whatever it holds.
func (v Value) Kind() ValueKind {
	if len(v.raw) == 0 {
		return NoValue
	}
	switch v.raw[0] & cbor.Mask {
	case cbor.Uint, cbor.Nint:
		return IntValue
	case cbor.Bytes:
		return BytesValue
	case cbor.Text:
		return TextValue
	case cbor.Array:
		return ArrayValue
	case cbor.Map:
		return MapValue
	case cbor.Tag:
		return TagValue
	}
	switch v.raw[0] {
	case cbor.False, cbor.True:
		return BoolValue
	case cbor.Null, cbor.Undefined:
		return NullValue
	case cbor.Simple | 25, cbor.Simple | 26, cbor.Simple | 27:
		return FloatValue
	}
	return SimpleValue
}

// Raw returns the CBOR of the value, borrowed as the value is.
func (v Value) Raw() []byte { return v.raw }

// Text returns a text. It is borrowed as the value is, unless it came in pieces.
func (v Value) Text() ([]byte, bool) { return v.str(cbor.Text) }

// Bytes returns a byte string. It is borrowed as the value is, unless it came in pieces.
func (v Value) Bytes() ([]byte, bool) { return v.str(cbor.Bytes) }

func (v Value) str(major byte) ([]byte, bool) {
	if len(v.raw) == 0 || v.raw[0]&cbor.Mask != major {
		return nil, false
	}
	if v.raw[0] == major|cbor.Indefinite {
		return joined(v.raw), true
	}
	s := scanner{b: v.raw}
	s.head()
	return v.raw[s.i:len(v.raw):len(v.raw)], true
}

// definiteText returns a text that came in one piece.
func (v Value) definiteText() ([]byte, bool) {
	if len(v.raw) > 0 && v.raw[0] == cbor.Text|cbor.Indefinite {
		return nil, false
	}
	return v.Text()
}

// Int returns an integer, if an int64 can hold it.
func (v Value) Int() (int64, bool) {
	major, n, ok := v.integer()
	if !ok || n > math.MaxInt64 {
		return 0, false
	}
	if major == cbor.Nint {
		return -1 - int64(n), true
	}
	return int64(n), true
}

// Uint returns an integer that is not negative.
func (v Value) Uint() (uint64, bool) {
	major, n, ok := v.integer()
	return n, ok && major == cbor.Uint
}

func (v Value) integer() (major byte, n uint64, ok bool) {
	if v.Kind() != IntValue {
		return 0, 0, false
	}
	s := scanner{b: v.raw}
	major, n, _, ok = s.head()
	return major, n, ok
}

// Float returns a floating-point number of any width.
func (v Value) Float() (float64, bool) {
	if v.Kind() != FloatValue {
		return 0, false
	}
	switch len(v.raw) {
	case 3:
		return half(binary.BigEndian.Uint16(v.raw[1:])), true
	case 5:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(v.raw[1:]))), true
	default:
		return math.Float64frombits(binary.BigEndian.Uint64(v.raw[1:])), true
	}
}

// Number returns a floating-point number or an integer, rounded as a conversion rounds.
func (v Value) Number() (float64, bool) {
	if f, ok := v.Float(); ok {
		return f, true
	}
	major, n, ok := v.integer()
	if major == cbor.Nint {
		return -1 - float64(n), ok
	}
	return float64(n), ok
}

// Bool returns a truth value.
func (v Value) Bool() (value, ok bool) {
	return len(v.raw) > 0 && v.raw[0] == cbor.True, v.Kind() == BoolValue
}

// Map returns a map.
func (v Value) Map() (Meta, bool) {
	if v.Kind() != MapValue {
		return Meta{}, false
	}
	return Meta{raw: v.raw}, true
}

// Unmarshal stores the value in what into points to, by the rules of fxamacker/cbor, which
// copies. It is the way to arrays and to nested values. It fails with [ErrDecode] for the zero
// Value, and for a value that does not fit.
func (v Value) Unmarshal(into any) error {
	if err := valueMode.Unmarshal(v.raw, into); err != nil {
		return Errorf(ErrDecode, "value of meta: %w", err)
	}
	return nil
}

// valueMode reads whatever [Decode] accepts.
var valueMode = func() codec.DecMode {
	mode, err := codec.DecOptions{
		MaxNestedLevels:  MaxNesting,
		MaxArrayElements: HardMaxFrame,
		MaxMapPairs:      HardMaxFrame,
	}.DecMode()
	if err != nil {
		panic("frame: " + err.Error())
	}
	return mode
}()

// half returns the value of a 16-bit float, as RFC 8949 appendix D spells it out.
func half(bits uint16) float64 {
	exponent := int(bits >> 10 & 0x1f)
	mantissa := float64(bits & 0x3ff)
	value := math.Inf(1)
	switch {
	case exponent == 0:
		value = math.Ldexp(mantissa, -24)
	case exponent != 31:
		value = math.Ldexp(mantissa+1024, exponent-25)
	case mantissa != 0:
		value = math.NaN()
	}
	if bits&0x8000 != 0 {
		return -value
	}
	return value
}

package frame

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	codec "github.com/fxamacker/cbor/v2"

	"github.com/cosim-go/cosim/relay/internal/cbor"
)

// A MetaBuilder makes a [Meta]. Names may come in any order; a name that comes again takes the
// place of the earlier one. A builder that is used again after [MetaBuilder.Reset] does not
// allocate. The zero value is ready for use; it is not safe for concurrent use.
type MetaBuilder struct {
	values  []byte // names and values, as they came
	entries []metaEntry
	out     []byte
	err     error
}

type metaEntry struct{ name, value, end int } // offsets into values

// Reset makes the builder empty. It takes back the Meta that [MetaBuilder.Meta] gave.
func (b *MetaBuilder) Reset() {
	if poisoned {
		poison(b.out)
	}
	b.values, b.entries, b.out, b.err = b.values[:0], b.entries[:0], b.out[:0], nil
}

// Meta returns the map of what was put in, which may be empty. It belongs to the builder and is
// valid until Reset or the next call of Meta. It fails with [ErrEncode] when a name or text is not UTF-8, or a value was
// not fit.
func (b *MetaBuilder) Meta() (Meta, error) {
	if b.err != nil {
		return Meta{}, b.err
	}
	slices.SortFunc(b.entries, func(x, y metaEntry) int {
		return bytes.Compare(b.values[x.name:x.value], b.values[y.name:y.value])
	})
	b.out = cbor.AppendHead(b.out[:0], cbor.Map, uint64(len(b.entries)))
	for _, e := range b.entries {
		b.out = cbor.AppendHead(b.out, cbor.Text, uint64(e.value-e.name))
		b.out = append(b.out, b.values[e.name:e.end]...)
	}
	return Meta{b.out, true}, nil
}

// Text sets a text, which must be UTF-8.
func (b *MetaBuilder) Text(name, value string) {
	if !utf8.ValidString(value) {
		b.refuse("meta %q: a text that is not UTF-8", name)
	}
	b.begin(name)
	b.values = append(cbor.AppendHead(b.values, cbor.Text, uint64(len(value))), value...)
	b.finish()
}

// Bytes sets a byte string.
func (b *MetaBuilder) Bytes(name string, value []byte) {
	b.begin(name)
	b.values = append(cbor.AppendHead(b.values, cbor.Bytes, uint64(len(value))), value...)
	b.finish()
}

// Int sets an integer.
func (b *MetaBuilder) Int(name string, value int64) {
	if value >= 0 {
		b.Uint(name, uint64(value))
		return
	}
	b.begin(name)
	b.values = cbor.AppendHead(b.values, cbor.Nint, uint64(-1-value))
	b.finish()
}

// Uint sets an integer that is not negative.
func (b *MetaBuilder) Uint(name string, value uint64) {
	b.begin(name)
	b.values = cbor.AppendHead(b.values, cbor.Uint, value)
	b.finish()
}

// Float sets a floating-point number, in 64 bits.
func (b *MetaBuilder) Float(name string, value float64) {
	b.begin(name)
	b.values = binary.BigEndian.AppendUint64(append(b.values, cbor.Simple|27), math.Float64bits(value))
	b.finish()
}

// Bool sets a truth value.
func (b *MetaBuilder) Bool(name string, value bool) {
	b.begin(name)
	if value {
		b.values = append(b.values, cbor.True)
	} else {
		b.values = append(b.values, cbor.False)
	}
	b.finish()
}

// Any sets what a Go value is by the rules of fxamacker/cbor, with maps in a fixed order. It
// allocates.
func (b *MetaBuilder) Any(name string, value any) {
	item, err := anyMode.Marshal(value)
	if err != nil {
		b.refuse("meta %q: %w", name, err)
		return
	}
	b.Raw(name, item)
}

// Raw sets a value that is CBOR already: one well-formed item.
func (b *MetaBuilder) Raw(name string, item []byte) {
	s := scanner{b: item}
	if !s.item(2) {
		b.refuse("meta %q: %v", name, s.flaw.err()) // not %w: the kind is ErrEncode alone
		return
	}
	if s.i < len(item) {
		b.refuse("meta %q: %d bytes behind the value", name, len(item)-s.i)
		return
	}
	b.begin(name)
	tidy := scanner{b: item}
	b.values = tidy.appendItem(b.values)
	b.finish()
}

// begin opens the entry of a name.
func (b *MetaBuilder) begin(name string) {
	if !utf8.ValidString(name) {
		b.refuse("a name of meta that is not UTF-8: %q", name)
	}
	b.entries = slices.DeleteFunc(b.entries, func(e metaEntry) bool {
		return string(b.values[e.name:e.value]) == name
	})
	start := len(b.values)
	b.values = append(b.values, name...)
	b.entries = append(b.entries, metaEntry{name: start, value: len(b.values)})
}

// finish closes the entry that was opened last.
func (b *MetaBuilder) finish() {
	b.entries[len(b.entries)-1].end = len(b.values)
}

func (b *MetaBuilder) refuse(format string, args ...any) {
	if b.err == nil {
		b.err = Errorf(ErrEncode, format, args...)
	}
}

// anyMode writes Go values with maps in the order of RFC 8949, section 4.2.1.
var anyMode = func() codec.EncMode {
	mode, err := codec.EncOptions{Sort: codec.SortBytewiseLexical}.EncMode()
	if err != nil {
		panic("frame: " + err.Error())
	}
	return mode
}()

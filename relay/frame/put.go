package frame

import (
	"unicode/utf8"

	"github.com/cosim-go/cosim/relay/internal/cbor"
)

// A putter adds what it holds to a meta.
type putter interface{ Put(b *MetaBuilder) }

// metaOf returns a meta of its own that holds what p puts into it, or none when that is nothing.
func metaOf(p putter) (Meta, error) {
	var b MetaBuilder
	p.Put(&b)
	if b.err == nil && len(b.entries) == 0 {
		return Meta{}, nil
	}
	return b.Meta()
}

// text sets a text. Nothing is set for nil.
func (b *MetaBuilder) text(name string, value []byte) {
	if value == nil {
		return
	}
	if !utf8.Valid(value) {
		b.refuse("meta %q: a text that is not UTF-8", name)
	}
	b.begin(name)
	b.values = append(cbor.AppendHead(b.values, cbor.Text, uint64(len(value))), value...)
	b.finish()
}

// notBlank sets a text that has to hold more than white space.
func (b *MetaBuilder) notBlank(name string, value []byte) {
	if blank(value) {
		b.refuse("meta %q: a blank text", name)
	}
	b.text(name, value)
}

// bytes sets a byte string. Nothing is set for nil.
func (b *MetaBuilder) bytes(name string, value []byte) {
	if value != nil {
		b.Bytes(name, value)
	}
}

// count sets an integer that peers can read; see [Frame.Sendable].
func (b *MetaBuilder) count(name string, n uint64) {
	if n >= firstUnsafeCount {
		b.refuse("meta %q: %d is 2^63 or more", name, n)
	}
	b.Uint(name, n)
}

// optionalCount sets an integer that peers can read. Nothing is set when it is absent.
func (b *MetaBuilder) optionalCount(name string, n Optional[uint64]) {
	if n.set {
		b.count(name, n.value)
	}
}

// optionalInt sets an integer. Nothing is set when it is absent.
func (b *MetaBuilder) optionalInt(name string, n Optional[int64]) {
	if n.set {
		b.Int(name, n.value)
	}
}

// attribution sets a class, and refuses none.
func (b *MetaBuilder) attribution(class Attribution) {
	if class == NoAttribution || class >= numAttributions {
		b.refuse("meta %q: no attribution class", metaAttribution)
	}
	b.Text(metaAttribution, class.String())
}

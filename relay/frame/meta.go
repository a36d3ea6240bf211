package frame

import (
	"bytes"
	"iter"
)

// A Meta is the map of named values on a frame, kept as the CBOR it came in or was built in.
// The zero Meta is none at all, which is not the same as an empty one. Names are texts; what
// stands under another key is passed over, and the last of several values of a name counts.
//
// A Meta of a decoded frame borrows from the frame's body; one from a [MetaBuilder] is the
// builder's.
type Meta struct {
	raw       []byte // one well-formed map
	canonical bool   // raw is as the encoder has to write it
}

// IsSet reports whether there is a map, which may be empty.
func (m Meta) IsSet() bool { return m.raw != nil }

// Raw returns the map's CBOR as it was received or built; nil when there is none. It is
// borrowed as the Meta is.
func (m Meta) Raw() []byte { return m.raw }

// Clone returns a Meta that borrows nothing.
func (m Meta) Clone() Meta {
	return Meta{bytes.Clone(m.raw), m.canonical}
}

// All yields names and values in the order of the map. A name that occurs again is yielded
// again: the last one counts.
func (m Meta) All() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		for e := m.entries(); e.next(); {
			if name, ok := e.name.Text(); ok && !yield(name, e.value) {
				return
			}
		}
	}
}

// Lookup returns the value of a name, and false when there is none.
func (m Meta) Lookup(name string) (v Value, ok bool) {
	for e := m.entries(); e.next(); {
		if text, isText := e.name.Text(); isText && string(text) == name {
			v, ok = e.value, true
		}
	}
	return v, ok
}

// Text returns the text of a name. It is borrowed as the Meta is.
func (m Meta) Text(name string) ([]byte, bool) {
	v, _ := m.Lookup(name)
	return v.Text()
}

// Bytes returns the byte string of a name. It is borrowed as the Meta is.
func (m Meta) Bytes(name string) ([]byte, bool) {
	v, _ := m.Lookup(name)
	return v.Bytes()
}

// Int returns the integer of a name, if an int64 can hold it.
func (m Meta) Int(name string) (int64, bool) {
	v, _ := m.Lookup(name)
	return v.Int()
}

// Uint returns the integer of a name, if it is not negative.
func (m Meta) Uint(name string) (uint64, bool) {
	v, _ := m.Lookup(name)
	return v.Uint()
}

// Number returns the integer or floating-point number of a name.
func (m Meta) Number(name string) (float64, bool) {
	v, _ := m.Lookup(name)
	return v.Number()
}

// Bool returns the truth value of a name.
func (m Meta) Bool(name string) (value, ok bool) {
	v, _ := m.Lookup(name)
	return v.Bool()
}

// metaEntries goes over the entries of a map that is well formed.
type metaEntries struct {
	scanner
	left        uint64
	open        bool
	name, value Value
}

func (m Meta) entries() metaEntries {
	e := metaEntries{scanner: scanner{b: m.raw}}
	if m.raw != nil {
		_, e.left, e.open, _ = e.head()
	}
	return e
}

func (e *metaEntries) next() bool {
	if e.open && e.closed() || !e.open && e.left == 0 {
		return false
	}
	e.left--
	e.name = e.take()
	e.value = e.take()
	return true
}

func (e *metaEntries) take() Value {
	start := e.i
	e.item(0)
	return Value{e.b[start:e.i:e.i]}
}

// metaMap passes over a map and notes whether it is as an encoder has to write it: names alone
// as keys, in ascending order of their bytes, none twice.
func (s *scanner) metaMap() bool {
	_, n, open, ok := s.head()
	if !ok {
		return false
	}
	var last []byte
	for first := true; open || n > 0; n-- {
		if open && s.closed() {
			return true
		}
		start := s.i
		if !s.item(2) {
			return false
		}
		name, ok := Value{s.b[start:s.i]}.definiteText()
		if !ok || !first && bytes.Compare(last, name) >= 0 {
			s.loose = true
		}
		last, first = name, false
		if !s.item(2) {
			return false
		}
	}
	return true
}

package frame

import (
	"bytes"
	"slices"

	"github.com/cosim-go/cosim/relay/internal/cbor"
)

// appendCanonical appends the map as the encoder has to write it.
func (m Meta) appendCanonical(dst []byte) []byte {
	if m.canonical {
		return append(dst, m.raw...)
	}
	tidy, places := m.tidy()
	nameAt := func(place uint32) []byte {
		e := scanner{b: tidy, i: int(place)}
		_, size, _, _ := e.head()
		return tidy[e.i : e.i+int(size)]
	}
	slices.SortFunc(places, func(a, b uint32) int {
		if c := bytes.Compare(nameAt(a), nameAt(b)); c != 0 {
			return c
		}
		return int(b) - int(a) // the last one counts, so it comes first
	})
	places = slices.CompactFunc(places, func(a, b uint32) bool {
		return bytes.Equal(nameAt(a), nameAt(b))
	})
	dst = cbor.AppendHead(dst, cbor.Map, uint64(len(places)))
	for _, place := range places {
		e := scanner{b: tidy, i: int(place)}
		e.item(0)
		e.item(0)
		dst = append(dst, tidy[place:e.i]...)
	}
	return dst
}

// tidy returns the entries with names, each as it has to be written but in the order of the
// map, and the offset of each in them. What it allocates is in proportion to the map, however
// small the entries: a map is [HardMaxFrame] at most, so that an offset takes four bytes.
func (m Meta) tidy() (entries []byte, places []uint32) {
	count := 0
	for e := m.entries(); e.next(); {
		count++
	}
	places = make([]uint32, 0, count)
	// A definite length takes more bytes than a head and a break do only around 256 bytes and more.
	entries = make([]byte, 0, len(m.raw)+len(m.raw)/64)
	for e := m.entries(); e.next(); {
		if e.name.Kind() != TextValue {
			continue
		}
		places = append(places, uint32(len(entries)))
		for _, v := range [...]Value{e.name, e.value} {
			s := scanner{b: v.raw}
			entries = s.appendItem(entries)
		}
	}
	return entries, places
}

// appendItem passes over a well-formed item and appends it with definite lengths and shortest
// heads. The order of what it holds, and the width of its floats, stay.
func (s *scanner) appendItem(dst []byte) []byte {
	start := s.i
	major, n, open, _ := s.head()
	switch major {
	case cbor.Bytes, cbor.Text:
		if open {
			n = s.size()
			return s.appendPieces(cbor.AppendHead(dst, major, n))
		}
		dst = cbor.AppendHead(dst, major, n)
		dst = append(dst, s.b[s.i:s.i+int(n)]...)
		s.i += int(n)
		return dst
	case cbor.Array, cbor.Map:
		return s.appendElements(dst, major, n, open)
	case cbor.Tag:
		return s.appendItem(cbor.AppendHead(dst, cbor.Tag, n))
	case cbor.Simple:
		if s.b[start] == cbor.Undefined {
			return append(dst, cbor.Null)
		}
		return append(dst, s.b[start:s.i]...)
	}
	return cbor.AppendHead(dst, major, n)
}

func (s *scanner) appendElements(dst []byte, major byte, n uint64, open bool) []byte {
	width := uint64(1)
	if major == cbor.Map {
		width = 2
	}
	if open {
		ahead := *s
		for n = 0; !ahead.closed(); n++ {
			ahead.item(0)
		}
		n /= width
	}
	dst = cbor.AppendHead(dst, major, n)
	for range n * width {
		dst = s.appendItem(dst)
	}
	if open {
		s.closed()
	}
	return dst
}

// size returns how long the string is whose pieces come next.
func (s *scanner) size() (n uint64) {
	for ahead := *s; !ahead.closed(); {
		_, size, _, _ := ahead.head()
		ahead.i += int(size)
		n += size
	}
	return n
}

// appendPieces passes over the pieces of a well-formed string and appends what they hold.
func (s *scanner) appendPieces(dst []byte) []byte {
	for !s.closed() {
		_, size, _, _ := s.head()
		dst = append(dst, s.b[s.i:s.i+int(size)]...)
		s.i += int(size)
	}
	return dst
}

// joined returns the content of the string in pieces that well-formed CBOR goes on with.
func joined(rest []byte) []byte {
	s := scanner{b: rest, i: 1}
	return s.appendPieces(make([]byte, 0, s.size()))
}

package frame

import (
	"bytes"
	"slices"
)

// appendCanonical appends the map as the encoder has to write it.
func (m Meta) appendCanonical(dst []byte) []byte {
	if m.canonical {
		return append(dst, m.raw...)
	}
	type entry struct {
		name  []byte
		value Value
		place int
	}
	var entries []entry
	for name, value := range m.All() {
		entries = append(entries, entry{name, value, len(entries)})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if c := bytes.Compare(a.name, b.name); c != 0 {
			return c
		}
		return b.place - a.place // the last one counts, so it comes first
	})
	entries = slices.CompactFunc(entries, func(a, b entry) bool { return bytes.Equal(a.name, b.name) })
	dst = appendHead(dst, majorMap, uint64(len(entries)))
	for _, e := range entries {
		dst = appendHead(dst, majorText, uint64(len(e.name)))
		dst = append(dst, e.name...)
		s := scanner{b: e.value.raw}
		dst = s.appendItem(dst)
	}
	return dst
}

// appendItem passes over a well-formed item and appends it with definite lengths and shortest
// heads. The order of what it holds, and the width of its floats, stay.
func (s *scanner) appendItem(dst []byte) []byte {
	start := s.i
	major, n, open, _ := s.head()
	switch major {
	case majorBytes, majorText:
		if open {
			s.i = start
			s.item(0)
			text := joined(s.b[start:s.i])
			return append(appendHead(dst, major, uint64(len(text))), text...)
		}
		dst = appendHead(dst, major, n)
		dst = append(dst, s.b[s.i:s.i+int(n)]...)
		s.i += int(n)
		return dst
	case majorArray, majorMap:
		return s.appendElements(dst, major, n, open)
	case majorTag:
		return s.appendItem(appendHead(dst, majorTag, n))
	case majorSimple:
		if s.b[start] == simpleUndefined {
			return append(dst, simpleNull)
		}
		return append(dst, s.b[start:s.i]...)
	}
	return appendHead(dst, major, n)
}

func (s *scanner) appendElements(dst []byte, major byte, n uint64, open bool) []byte {
	width := uint64(1)
	if major == majorMap {
		width = 2
	}
	if open {
		ahead := *s
		for n = 0; !ahead.closed(); n++ {
			ahead.item(0)
		}
		n /= width
	}
	dst = appendHead(dst, major, n)
	for range n * width {
		dst = s.appendItem(dst)
	}
	if open {
		s.closed()
	}
	return dst
}

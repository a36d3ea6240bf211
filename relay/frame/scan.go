package frame

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/cosim-go/cosim/relay/internal/cbor"
)

// A scanner walks over CBOR and checks that it is well formed. It makes nothing of it.
type scanner struct {
	b     []byte
	i     int  // offset of what comes next
	loose bool // something is not as an encoder writes it: a long head, an indefinite length, an undefined
	flaw  flaw // why a method returned false
}

// A flaw is what makes CBOR malformed. It holds no pointer, so that a scanner and what it
// works on can stay on the stack.
type flaw struct {
	what   flawKind
	offset int
	number uint64 // what the text of the kind has a place for
}

type flawKind uint8

const (
	noFlaw flawKind = iota
	emptyBody
	cutItem
	reservedHead
	strayBreak
	wideSimple
	strangePiece
	badText
	deepNesting
	trailingBytes
	notMap // well formed, but no frame
)

var flawTexts = [...]string{
	emptyBody:     "an empty body",
	cutItem:       "the body ends within an item",
	reservedHead:  "head 0x%02x is reserved",
	strayBreak:    "a break where an item is due",
	wideSimple:    "simple value %d in two bytes",
	strangePiece:  "a piece of an cbor.Indefinite string of another kind than the string",
	badText:       "a text that is not UTF-8",
	deepNesting:   "nesting deeper than %d",
	trailingBytes: "%d bytes behind the body's map",
	notMap:        "the body is no map",
}

// err returns the flaw as an error.
func (f flaw) err() *Error {
	kind, text := ErrDecode, flawTexts[f.what]
	if f.what == notMap {
		kind = ErrInvalidFrame
	}
	if strings.Contains(text, "%") {
		return faultAt(kind, f.offset, text, f.number)
	}
	return faultAt(kind, f.offset, "%s", text)
}

func (s *scanner) fail(offset int, what flawKind, number uint64) bool {
	s.flaw = flaw{what, offset, number}
	return false
}

func (s *scanner) cut() bool {
	return s.fail(len(s.b), cutItem, 0)
}

// head reads the head of an item: its major type, and the number in it or behind it. A length
// that is indefinite, and a break, leave open true.
func (s *scanner) head() (major byte, n uint64, open, ok bool) {
	if s.i >= len(s.b) {
		return 0, 0, false, s.cut()
	}
	first := s.b[s.i]
	major = first & cbor.Mask
	info := first &^ cbor.Mask
	s.i++
	if info < 24 {
		return major, uint64(info), false, true
	}
	rest := s.b[s.i:]
	switch {
	case info == 24 && len(rest) >= 1:
		n = uint64(rest[0])
		s.i++
		s.loose = s.loose || n < 24
	case info == 25 && len(rest) >= 2:
		n = uint64(binary.BigEndian.Uint16(rest))
		s.i += 2
		s.loose = s.loose || n < 1<<8
	case info == 26 && len(rest) >= 4:
		n = uint64(binary.BigEndian.Uint32(rest))
		s.i += 4
		s.loose = s.loose || n < 1<<16
	case info == 27 && len(rest) >= 8:
		n = binary.BigEndian.Uint64(rest)
		s.i += 8
		s.loose = s.loose || n < 1<<32
	case info == cbor.Indefinite && major != cbor.Uint && major != cbor.Nint && major != cbor.Tag:
		s.loose = true
		return major, 0, true, true
	case info > 27:
		return 0, 0, false, s.fail(s.i-1, reservedHead, uint64(first))
	default:
		return 0, 0, false, s.cut()
	}
	return major, n, false, true
}

// item passes over one item that stands within level arrays and maps.
func (s *scanner) item(level int) bool {
	start, loose := s.i, s.loose
	major, n, open, ok := s.head()
	if !ok {
		return false
	}
	switch major {
	case cbor.Uint, cbor.Nint:
		return true
	case cbor.Bytes, cbor.Text:
		return s.text(major, n, open)
	case cbor.Array:
		return s.elements(start, level, n, open)
	case cbor.Map:
		return s.entries(start, level, n, open)
	case cbor.Tag:
		return s.tagged(level)
	}
	if open {
		return s.fail(start, strayBreak, 0)
	}
	switch s.b[start] {
	case cbor.Simple | 24:
		if n < 32 {
			return s.fail(start, wideSimple, n)
		}
	case cbor.Simple | 25, cbor.Simple | 26, cbor.Simple | 27: // floats: any width
		s.loose = loose
	case cbor.Undefined: // written as null
		s.loose = true
	}
	return true
}

// text passes over the content of a string, whose head was read.
func (s *scanner) text(major byte, n uint64, open bool) bool {
	if !open {
		return s.piece(major, n)
	}
	for {
		start := s.i
		m, n, open, ok := s.head()
		switch {
		case !ok:
			return false
		case m == cbor.Simple && open:
			return true
		case m != major || open:
			return s.fail(start, strangePiece, 0)
		case !s.piece(m, n):
			return false
		}
	}
}

func (s *scanner) piece(major byte, n uint64) bool {
	if n > uint64(len(s.b)-s.i) {
		return s.cut()
	}
	end := s.i + int(n)
	if major == cbor.Text && !utf8.Valid(s.b[s.i:end]) {
		return s.fail(s.i, badText, 0)
	}
	s.i = end
	return true
}

// elements passes over what an array holds.
func (s *scanner) elements(start, level int, n uint64, open bool) bool {
	if level >= MaxNesting {
		return s.tooDeep(start)
	}
	for ; open || n > 0; n-- {
		if open && s.closed() {
			return true
		}
		if !s.item(level + 1) {
			return false
		}
	}
	return true
}

// entries passes over what a map holds.
func (s *scanner) entries(start, level int, n uint64, open bool) bool {
	if level >= MaxNesting {
		return s.tooDeep(start)
	}
	for ; open || n > 0; n-- {
		if open && s.closed() {
			return true
		}
		if !s.pair(level + 1) {
			return false
		}
	}
	return true
}

// pair passes over a key and what is under it.
func (s *scanner) pair(level int) bool {
	for range 2 {
		if !s.item(level) {
			return false
		}
	}
	return true
}

// closed passes over the break of an indefinite length, if it comes next.
func (s *scanner) closed() bool {
	if s.i < len(s.b) && s.b[s.i] == cbor.Break {
		s.i++
		return true
	}
	return false
}

// tagged passes over what a tag is around; a tag directly within a tag is a level of its own.
func (s *scanner) tagged(level int) bool {
	for s.i < len(s.b) && s.b[s.i]&cbor.Mask == cbor.Tag {
		start := s.i
		if level++; level > MaxNesting {
			return s.tooDeep(start)
		}
		if _, _, _, ok := s.head(); !ok {
			return false
		}
	}
	return s.item(level)
}

func (s *scanner) tooDeep(offset int) bool {
	return s.fail(offset, deepNesting, MaxNesting)
}

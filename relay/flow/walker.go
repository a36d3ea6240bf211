package flow

import (
	"errors"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/cbor"
)

// Reasons why bytes are no CBOR item.
var (
	errReserved = errors.New("a CBOR head that is reserved")
	errBreak    = errors.New("a CBOR break where an item is due")
	errSimple   = errors.New("a CBOR simple value below 32 in two bytes")
	errTooDeep  = errors.New("CBOR nested too deep")
	errTooLarge = errors.New("a CBOR item above the limit")
)

// A walker walks over one CBOR item that comes in parts of any size, each byte once, and checks
// that it is well formed as package frame does: no text that is not UTF-8, no nesting beyond
// [frame.MaxNesting]. The zero value, with a limit, is at the beginning of an item.
type walker struct {
	limit uint64 // bytes that the item may have
	used  uint64 // of them, bytes walked over

	head [cbor.LongestHead]byte // the head that is being read
	got  int                    // bytes of it that came

	content uint64 // bytes of a string that are to come
	text    utf8Checker
	isText  bool // the string is a text

	tags  int // tags around the next item
	outer [frame.MaxNesting + 1]container
	depth int // how many containers are open
}

// A container is an array, a map or a string of indefinite length that has not ended.
type container struct {
	major  byte
	open   bool   // a break ends it
	odd    bool   // a map of indefinite length: a key came, its value is due
	left   uint64 // items to come, unless open
	inside int    // level of what it holds
}

// walk walks over a part. It returns how many bytes of it belong to the item, and whether the
// item is whole.
func (w *walker) walk(part []byte) (n int, whole bool, err error) {
	if uint64(len(part)) > w.limit-w.used {
		return 0, false, errTooLarge
	}
	for n < len(part) && !whole && err == nil {
		var size int
		switch {
		case w.content > 0:
			size, whole, err = w.string(part[n:])
		case w.got == 0 && isByte(part[n]) && !w.inString():
			size, whole = 1, w.ended()
		default:
			var head []byte
			if head, size = w.cutHead(part[n:]); head != nil {
				whole, err = w.begin(head)
			}
		}
		n += size
	}
	w.used += uint64(n)
	return n, whole, err
}

// isByte reports whether an item is but a byte: a small number or a simple value. Those are many.
func isByte(first byte) bool {
	major := first & cbor.Mask
	return first&^cbor.Mask < 24 && (major <= cbor.Nint || major == cbor.Simple)
}

// cutHead returns the head that is next when all of it has come, empty when it is reserved, and
// how many bytes of it the part has.
func (w *walker) cutHead(part []byte) (head []byte, n int) {
	if w.got == 0 {
		if size := cbor.HeadSize(part[0]); size <= len(part) {
			return part[:size], size
		}
	}
	n = 1
	if w.got > 0 {
		n = min(cbor.HeadSize(w.head[0])-w.got, len(part))
	}
	copy(w.head[w.got:], part[:n])
	w.got += n
	if w.got < cbor.HeadSize(w.head[0]) {
		return nil, n
	}
	head, w.got = w.head[:w.got], 0
	return head, n
}

// string walks over content of a string.
func (w *walker) string(part []byte) (n int, whole bool, err error) {
	n = int(min(w.content, uint64(len(part))))
	w.content -= uint64(n)
	if w.isText && !w.text.add(part[:n], w.content == 0) {
		return n, false, errNotUTF8
	}
	return n, w.content == 0 && w.ended(), nil
}

// begin begins the item of a head. It returns true when the item at the top is whole.
func (w *walker) begin(head []byte) (whole bool, err error) {
	if len(head) == 0 {
		return false, errReserved
	}
	major, n := head[0]&cbor.Mask, cbor.HeadNumber(head)
	open := head[0]&^cbor.Mask == cbor.Indefinite
	if w.inString() && (major != w.outer[w.depth-1].major || open) && head[0] != cbor.Break {
		return false, errPiece
	}
	switch major {
	case cbor.Bytes, cbor.Text:
		return w.beginString(major, n, open)
	case cbor.Array, cbor.Map:
		return w.beginContainer(major, n, open)
	case cbor.Tag:
		return false, w.tag()
	case cbor.Simple:
		if head[0] == cbor.Break {
			return w.close()
		}
		if head[0] == cbor.Simple|24 && n < 32 {
			return false, errSimple
		}
	}
	return w.ended(), nil
}

func (w *walker) inString() bool {
	return w.depth > 0 && (w.outer[w.depth-1].major == cbor.Bytes || w.outer[w.depth-1].major == cbor.Text)
}

func (w *walker) beginString(major byte, n uint64, open bool) (whole bool, err error) {
	switch {
	case open:
		w.enter(container{major: major, open: true})
		return false, nil
	case n > w.limit:
		return false, errTooLarge
	case n == 0:
		return w.ended(), nil
	}
	w.content, w.isText = n, major == cbor.Text
	return false, nil
}

func (w *walker) beginContainer(major byte, n uint64, open bool) (whole bool, err error) {
	level := w.level()
	switch {
	case level >= frame.MaxNesting:
		return false, errTooDeep
	case n > w.limit: // each item it holds has a byte at least
		return false, errTooLarge
	case n == 0 && !open:
		return w.ended(), nil
	}
	if major == cbor.Map {
		n *= 2
	}
	w.enter(container{major: major, open: open, left: n, inside: level + 1})
	return false, nil
}

// level returns how many levels there are around the next item: arrays, maps, and tags directly
// within tags.
func (w *walker) level() int {
	level := max(w.tags-1, 0)
	if w.depth > 0 {
		level += w.outer[w.depth-1].inside
	}
	return level
}

func (w *walker) tag() error {
	w.tags++
	if w.level() > frame.MaxNesting {
		return errTooDeep
	}
	return nil
}

func (w *walker) enter(c container) {
	w.outer[w.depth] = c
	w.depth++
	w.tags = 0
}

// close ends the innermost container, at a break.
func (w *walker) close() (whole bool, err error) {
	if w.depth == 0 || w.tags > 0 || !w.outer[w.depth-1].open || w.outer[w.depth-1].odd {
		return false, errBreak
	}
	w.depth--
	return w.ended(), nil
}

// ended counts an item as whole, and what ends with it. It returns true when that is all.
func (w *walker) ended() bool {
	for w.tags = 0; w.depth > 0; w.depth-- {
		c := &w.outer[w.depth-1]
		if c.open {
			c.odd = c.major == cbor.Map && !c.odd
			return false
		}
		if c.left--; c.left > 0 {
			return false
		}
	}
	return true
}

package frame

import "github.com/cosim-go/cosim/relay/internal/cbor"

// Decode reads the frame of a body, the CBOR map behind a length prefix. Texts, payload and
// meta of the frame borrow from body; what f held before is gone. Only a body with strings of
// indefinite length, which no known implementation writes, makes Decode allocate.
//
// A body that is not one well-formed CBOR item, with nothing behind it, no text that is not
// UTF-8 and no nesting beyond [MaxNesting], fails with [ErrDecode]; a well-formed one that is
// no frame with [ErrInvalidFrame]; one longer than [HardMaxFrame] with [ErrFrameTooLarge]. After
// an error f is as it was.
func Decode(body []byte, f *Frame) error {
	d := decoder{scanner: scanner{b: body}}
	if err := d.frame(); err != nil {
		return err
	}
	d.fill(f)
	return nil
}

// A decoder walks over a body once and notes where things are. A later duplicate of a key takes
// the place of an earlier one in every respect, so that only what is left at the end is judged.
//
// It points at nothing but the body, which keeps it on the stack.
type decoder struct {
	scanner
	found    keySet // something is there
	usable   keySet // it is of the kind that the key holds
	negative keySet // it is a negative number, where a number is due
	pieces   keySet // it is a string of indefinite length
	neatMeta bool   // the meta is as an encoder has to write it

	id, routingID ID
	numbers       [largestKey + 1]uint64 // truth values too
	spans         [largestKey + 1]span   // of a string's content, or of all that is there
}

// A keySet has a bit for each known key.
type keySet uint32

func (s keySet) has(key int) bool { return s>>key&1 == 1 }

// A span is a range of bytes of the body, half-open.
type span struct{ start, end uint32 }

// What a key holds.
const (
	holdsNumber = iota
	holdsText
	holdsBytes
	holdsBool
	holdsID
	holdsMeta
)

var keyHolds = [largestKey + 1]uint8{
	keyContentType: holdsText, keyCap: holdsText, keyStreamID: holdsText, keyMediaURN: holdsText,
	keyPayload: holdsBytes, keyMeta: holdsMeta, keyID: holdsID, keyRoutingID: holdsID,
	keyEOF: holdsBool, keyIsSequence: holdsBool, keyForceKill: holdsBool, keyUnbounded: holdsBool,
}

func (d *decoder) frame() *Error {
	if len(d.b) > HardMaxFrame {
		return faultAt(ErrFrameTooLarge, 0, "a body of %d bytes, at most %d are taken", len(d.b), HardMaxFrame)
	}
	if !d.body() {
		return d.flaw.err()
	}
	return d.judge()
}

// body walks over all of the body. It returns false with d.flaw.
func (d *decoder) body() bool {
	if len(d.b) == 0 {
		return d.fail(0, emptyBody, 0)
	}
	if d.b[0]&cbor.Mask != cbor.Map {
		if d.item(0) && d.end() {
			d.fail(0, notMap, 0)
		}
		return false
	}
	_, n, open, ok := d.head()
	if !ok {
		return false
	}
	if !open {
		n -= d.plainEntries(n)
	}
	for ; open || n > 0; n-- {
		if open && d.closed() {
			break
		}
		if !d.entry() {
			return false
		}
		if !open {
			n -= d.plainEntries(n - 1)
		}
	}
	return d.end()
}

func (d *decoder) end() bool {
	if d.i < len(d.b) {
		return d.fail(d.i, trailingBytes, uint64(len(d.b)-d.i))
	}
	return true
}

// entry walks over a key and what is under it.
func (d *decoder) entry() bool {
	var key uint64
	if d.i < len(d.b) && d.b[d.i] < 24 {
		key = uint64(d.b[d.i])
		d.i++
	} else {
		start := d.i
		major, n, _, ok := d.head()
		if !ok {
			return false
		}
		if major != cbor.Uint {
			d.i = start
			return d.pair(1)
		}
		key = n
	}
	if key > largestKey {
		return d.item(1)
	}
	bit := keySet(1) << key
	d.found |= bit
	d.usable &^= bit
	d.negative &^= bit
	d.pieces &^= bit
	start := d.i
	d.spans[key].start = uint32(start)
	switch keyHolds[key] {
	case holdsNumber:
		return d.number(key, bit)
	case holdsText:
		return d.str(cbor.Text, key, bit)
	case holdsBytes:
		return d.str(cbor.Bytes, key, bit)
	case holdsBool:
		return d.bool(key, bit)
	case holdsMeta:
		return d.meta(bit)
	}
	if key == keyID {
		return d.readID(&d.id, bit)
	}
	return d.readID(&d.routingID, bit)
}

// number reads an integer.
func (d *decoder) number(key uint64, bit keySet) bool {
	start := d.i
	major, n, _, ok := d.head()
	switch {
	case !ok:
		return false
	case major == cbor.Uint:
		d.usable |= bit
	case major == cbor.Nint:
		d.negative |= bit
	default:
		d.i = start
		return d.item(1)
	}
	d.numbers[key] = n
	return true
}

func (d *decoder) bool(key uint64, bit keySet) bool {
	if d.i < len(d.b) && d.b[d.i]&^1 == cbor.False {
		d.usable |= bit
		d.numbers[key] = uint64(d.b[d.i] & 1)
		d.i++
		return true
	}
	return d.item(1)
}

// str reads a string of the major type given.
func (d *decoder) str(want byte, key uint64, bit keySet) bool {
	start := d.i
	major, n, open, ok := d.head()
	if !ok {
		return false
	}
	if major != want {
		d.i = start
		return d.item(1)
	}
	content := d.i
	if !d.text(major, n, open) {
		return false
	}
	d.usable |= bit
	if open {
		d.pieces |= bit
		content = start
	}
	d.spans[key] = span{uint32(content), uint32(d.i)}
	return true
}

// readID reads 16 bytes or a number.
func (d *decoder) readID(id *ID, bit keySet) bool {
	*id = ID{}
	start := d.i
	major, n, open, ok := d.head()
	switch {
	case !ok:
		return false
	case major == cbor.Uint:
		d.usable |= bit
		*id = Number(n)
		return true
	case major == cbor.Bytes && !open && n == 16 && d.i+16 <= len(d.b):
		d.usable |= bit
		*id = UUID([16]byte(d.b[d.i : d.i+16]))
		d.i += 16
		return true
	case major == cbor.Bytes && open:
		return d.idInPieces(id, bit)
	}
	d.i = start
	return d.item(1)
}

// idInPieces reads what follows the head of a byte string of indefinite length.
func (d *decoder) idInPieces(id *ID, bit keySet) bool {
	var whole [16]byte
	n, begin := 0, d.i
	if !d.text(cbor.Bytes, 0, true) {
		return false
	}
	for p := (scanner{b: d.b[:d.i-1], i: begin}); p.i < len(p.b); {
		_, size, _, _ := p.head()
		if n <= len(whole) && size <= uint64(len(whole)-n) {
			n += copy(whole[n:], p.b[p.i:p.i+int(size)])
		} else {
			n = len(whole) + 1
		}
		p.i += int(size)
	}
	if n == len(whole) {
		d.usable |= bit
		*id = UUID(whole)
	}
	return true
}

// meta reads the frame's meta.
func (d *decoder) meta(bit keySet) bool {
	if d.i >= len(d.b) || d.b[d.i]&cbor.Mask != cbor.Map {
		return d.item(1)
	}
	start := d.i
	d.loose = false
	if !d.metaMap() {
		return false
	}
	d.usable |= bit
	d.spans[keyMeta] = span{uint32(start), uint32(d.i)}
	d.neatMeta = !d.loose
	return true
}

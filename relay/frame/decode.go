package frame

// Decode reads the frame of a body, the CBOR map behind a length prefix. Texts, payload and
// meta of the frame borrow from body; what f held before is gone. Only a body with strings of
// indefinite length, which no known implementation writes, makes Decode allocate.
//
// A body that is not one well-formed CBOR item, with nothing behind it, no text that is not
// UTF-8 and no nesting beyond [MaxNesting], fails with [ErrDecode]; a well-formed one that is
// no frame with [ErrInvalidFrame]. After an error f holds nothing of use.
func Decode(body []byte, f *Frame) error {
	d := decoder{scanner: scanner{b: body}, f: f}
	if err := d.frame(); err != nil {
		return err
	}
	if d.pieces != 0 {
		d.join()
	}
	return nil
}

// Check tests a body as [Decode] does and returns the head of its frame. It never allocates,
// except for an error.
func Check(body []byte) (Head, error) {
	var f Frame
	d := decoder{scanner: scanner{b: body}, f: &f}
	if err := d.frame(); err != nil {
		return Head{}, err
	}
	return f.Head(), nil
}

// A decoder walks over a body once. A later duplicate of a key takes the place of an earlier
// one in every respect, so that only what is left at the end is judged.
type decoder struct {
	scanner
	f        *Frame
	version  uint64              // the number under key 0
	kind     uint64              // the number under key 1
	found    uint32              // bit of a key: it is there
	unusable uint32              // bit of a key: what is there is nothing the key may hold
	negative uint32              // bit of a key: a negative number is there
	pieces   uint32              // bit of a key: a string in pieces is there
	at       [largestKey + 1]int // offset of what is under a key
}

func (d *decoder) frame() error {
	*d.f = Frame{}
	if !d.body() {
		return d.err
	}
	if err := d.judge(); err != nil {
		return err
	}
	return nil
}

// body walks over all of the body. It returns false with d.err.
func (d *decoder) body() bool {
	if len(d.b) == 0 {
		return d.fail(0, "an empty body")
	}
	if d.b[0]&majorMask != majorMap {
		if d.item(0) && d.end() {
			d.err = faultAt(ErrInvalidFrame, 0, "the body is no map")
		}
		return false
	}
	_, n, open, ok := d.head()
	if !ok {
		return false
	}
	for ; open || n > 0; n-- {
		if open && d.closed() {
			break
		}
		if !d.entry() {
			return false
		}
	}
	return d.end()
}

func (d *decoder) end() bool {
	if d.i < len(d.b) {
		return d.fail(d.i, "%d bytes behind the body's map", len(d.b)-d.i)
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
		if major != majorUint {
			d.i = start
			return d.item(1) && d.item(1)
		}
		key = n
	}
	if key > largestKey {
		return d.item(1)
	}
	bit := uint32(1) << key
	d.at[key] = d.i
	d.found |= bit
	d.unusable &^= bit
	d.negative &^= bit
	d.pieces &^= bit
	return d.value(int(key), bit)
}

func (d *decoder) value(key int, bit uint32) bool {
	f := d.f
	switch key {
	case keyVersion:
		return d.number(&d.version, bit)
	case keyType:
		return d.number(&d.kind, bit)
	case keyID:
		return d.id(&f.ID, bit)
	case keyRoutingID:
		return d.id(&f.RoutingID, bit)
	case keySeq:
		return d.number(&f.Seq, bit)
	case keyContentType:
		return d.bytes(&f.ContentType, majorText, bit)
	case keyMeta:
		return d.meta()
	case keyPayload:
		return d.bytes(&f.Payload, majorBytes, bit)
	case keyLen:
		return d.optional(&f.Len, bit)
	case keyOffset:
		return d.optional(&f.Offset, bit)
	case keyEOF:
		return d.bool(&f.EOF)
	case keyCap:
		return d.bytes(&f.Cap, majorText, bit)
	case keyStreamID:
		return d.bytes(&f.StreamID, majorText, bit)
	case keyMediaURN:
		return d.bytes(&f.MediaURN, majorText, bit)
	case keyChunkIndex:
		return d.optional(&f.ChunkIndex, bit)
	case keyChunkCount:
		return d.optional(&f.ChunkCount, bit)
	case keyChecksum:
		return d.optional(&f.Checksum, bit)
	case keyIsSequence:
		return d.bool(&f.IsSequence)
	case keyForceKill:
		return d.bool(&f.ForceKill)
	case keyCredit:
		return d.optional(&f.Credit, bit)
	default:
		return d.bool(&f.Unbounded)
	}
}

// number reads an integer; anything else counts as 0 and is unusable.
func (d *decoder) number(n *uint64, bit uint32) bool {
	*n = 0
	start := d.i
	major, v, _, ok := d.head()
	switch {
	case !ok:
		return false
	case major == majorUint:
		*n = v
		return true
	case major == majorNint:
		*n = v
		d.negative |= bit
		return true
	}
	d.unusable |= bit
	d.i = start
	return d.item(1)
}

func (d *decoder) optional(o *Optional[uint64], bit uint32) bool {
	if !d.number(&o.value, bit) {
		return false
	}
	o.set = (d.unusable|d.negative)&bit == 0
	return true
}

func (d *decoder) bool(o *Optional[bool]) bool {
	if d.i < len(d.b) && d.b[d.i]&^1 == simpleFalse {
		*o = Some(d.b[d.i] == simpleTrue)
		d.i++
		return true
	}
	*o = Optional[bool]{}
	return d.item(1)
}

// bytes reads a string of the major type given, text or bytes.
func (d *decoder) bytes(field *[]byte, want byte, bit uint32) bool {
	*field = nil
	start := d.i
	major, n, open, ok := d.head()
	if !ok {
		return false
	}
	if major != want {
		d.i = start
		return d.item(1)
	}
	begin := d.i
	if !d.text(major, n, open) {
		return false
	}
	if open {
		d.pieces |= bit
		return true
	}
	*field = d.b[begin:d.i:d.i]
	return true
}

// id reads 16 bytes or a number; anything else is unusable.
func (d *decoder) id(id *ID, bit uint32) bool {
	*id = ID{}
	start := d.i
	major, n, open, ok := d.head()
	if !ok {
		return false
	}
	switch {
	case major == majorUint:
		*id = Number(n)
		return true
	case major == majorBytes && !open && n == 16 && d.i+16 <= len(d.b):
		*id = UUID([16]byte(d.b[d.i : d.i+16]))
		d.i += 16
		return true
	case major == majorBytes && open:
		return d.idInPieces(id, bit)
	}
	d.unusable |= bit
	d.i = start
	return d.item(1)
}

// idInPieces reads what follows the head of a byte string of indefinite length.
func (d *decoder) idInPieces(id *ID, bit uint32) bool {
	var joined [16]byte
	n, begin := 0, d.i
	if !d.text(majorBytes, 0, true) {
		return false
	}
	for p := (scanner{b: d.b[:d.i-1], i: begin}); p.i < len(p.b); {
		_, size, _, _ := p.head()
		if n <= len(joined) && size <= uint64(len(joined)-n) {
			copy(joined[n:], p.b[p.i:p.i+int(size)])
			n += int(size)
		} else {
			n = len(joined) + 1
		}
		p.i += int(size)
	}
	if n != len(joined) {
		d.unusable |= bit
		return true
	}
	*id = UUID(joined)
	return true
}

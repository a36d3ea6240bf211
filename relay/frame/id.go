package frame

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// An ID names a request (RID) or, given by a switch, the path of one (XID). It is a UUID or
// an unsigned number; the two never equal each other. IDs are compared with == and serve as
// map keys. The zero ID is no id at all: [ID.IsZero].
type ID struct {
	form   idForm
	hi, lo uint64 // a UUID's bytes, big endian; a number is in lo
}

type idForm uint8

const (
	noID idForm = iota
	uuidID
	numberID
)

// UUID returns the id with the 16 bytes given, whatever version of UUID they are.
func UUID(b [16]byte) ID {
	return ID{uuidID, binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

// NewUUID returns a fresh random id, a UUID of version 4 (RFC 9562, section 5.4).
func NewUUID() ID {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program first
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return UUID(b)
}

// Number returns the id with that number. Numbers of 2^63 and more are read, but a frame
// made here must not carry one: [Frame.Sendable].
func Number(n uint64) ID { return ID{form: numberID, lo: n} }

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.form == noID }

// UUID returns the 16 bytes of a UUID, and false for any other id.
func (id ID) UUID() (b [16]byte, ok bool) {
	if id.form != uuidID {
		return b, false
	}
	binary.BigEndian.PutUint64(b[:8], id.hi)
	binary.BigEndian.PutUint64(b[8:], id.lo)
	return b, true
}

// Number returns the number of a numeric id, and false for any other id.
func (id ID) Number() (n uint64, ok bool) {
	return id.lo, id.form == numberID
}

// Words returns what an id consists of, for hashing: its form, and a UUID's 16 bytes, big
// endian, or 0 and a number. Ids differ when any of it does.
func (id ID) Words() (form, hi, lo uint64) { return uint64(id.form), id.hi, id.lo }

// String returns a UUID as 8-4-4-4-12 lower-case hexadecimal digits, a number in decimal, and
// nothing for no id.
func (id ID) String() string {
	var buf [36]byte
	return string(id.AppendText(buf[:0]))
}

// AppendText appends what [ID.String] returns.
func (id ID) AppendText(dst []byte) []byte {
	switch id.form {
	case numberID:
		return strconv.AppendUint(dst, id.lo, 10)
	case uuidID:
		b, _ := id.UUID()
		for i, part := range [...][2]int{{0, 4}, {4, 6}, {6, 8}, {8, 10}, {10, 16}} {
			if i > 0 {
				dst = append(dst, '-')
			}
			dst = hex.AppendEncode(dst, b[part[0]:part[1]])
		}
	}
	return dst
}

// MarshalText returns what [ID.String] does, for encoding/json and the like. It never fails.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil), nil }

// UnmarshalText reads what [ID.MarshalText] returns; nothing is no id. It fails as [ParseID] does.
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*id = ID{}
		return nil
	}
	read, err := ParseID(string(text))
	if err == nil {
		*id = read
	}
	return err
}

// AppendBytes appends the byte form: the 16 bytes of a UUID, or a number in eight bytes, big
// endian; nothing for no id.
func (id ID) AppendBytes(dst []byte) []byte {
	if id.form == uuidID {
		dst = binary.BigEndian.AppendUint64(dst, id.hi)
	}
	if id.form != noID {
		dst = binary.BigEndian.AppendUint64(dst, id.lo)
	}
	return dst
}

// ParseID reads what [ID.String] writes of an id that is one, upper-case digits of a UUID too. It
// fails with [ErrDecode].
func ParseID(text string) (ID, error) {
	if len(text) != 36 {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || text[0] == '+' {
			return ID{}, Errorf(ErrDecode, "id %q is neither a UUID nor a number", text)
		}
		return Number(n), nil
	}
	var digits [32]byte
	n := 0
	for i := range len(text) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if text[i] != '-' {
				return ID{}, Errorf(ErrDecode, "id %q is neither a UUID nor a number", text)
			}
			continue
		}
		digits[n] = text[i]
		n++
	}
	var b [16]byte
	if _, err := hex.Decode(b[:], digits[:]); err != nil {
		return ID{}, Errorf(ErrDecode, "id %q is neither a UUID nor a number", text)
	}
	return UUID(b), nil
}

// Package cbor reads and writes the heads of CBOR items, RFC 8949 section 3.
package cbor

import "encoding/binary"

// Major types of items, RFC 8949 section 3.1, in the upper three bits of a head.
const (
	Uint   = 0 << 5
	Nint   = 1 << 5
	Bytes  = 2 << 5
	Text   = 3 << 5
	Array  = 4 << 5
	Map    = 5 << 5
	Tag    = 6 << 5
	Simple = 7 << 5 // simple values, floats and the break
	Mask   = 7 << 5
)

// Heads of one byte.
const (
	Indefinite = 31 // added to a major type: a length that a break ends
	Break      = Simple | Indefinite

	False     = Simple | 20
	True      = Simple | 21
	Null      = Simple | 22
	Undefined = Simple | 23
)

// LongestHead is how long a head is at most, in bytes.
const LongestHead = 9

// AppendHead appends a head in its shortest form: a major type and a number or length.
func AppendHead(dst []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(dst, major|byte(n))
	case n < 1<<8:
		return append(dst, major|24, byte(n))
	case n < 1<<16:
		return append(dst, major|25, byte(n>>8), byte(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|27), n)
}

// HeadSize returns how many bytes a head has, by its first one; 0 for a head that is reserved.
func HeadSize(first byte) int {
	switch info := first &^ Mask; {
	case info < 24:
		return 1
	case info < 28:
		return 1 + 1<<(info-24)
	case info < Indefinite:
		return 0
	}
	switch first & Mask {
	case Uint, Nint, Tag:
		return 0
	}
	return 1
}

// HeadNumber returns the number in a whole head; 0 for an indefinite length.
func HeadNumber(head []byte) uint64 {
	info := uint64(head[0] &^ Mask)
	switch {
	case info < 24:
		return info
	case info == Indefinite:
		return 0
	}
	n, _ := WideNumber(head, 1, info)
	return n
}

// WideNumber returns the number that stands at an offset, behind the first byte of a head whose
// lower five bits are info, and the offset behind it; the offset is 0 when there is none.
func WideNumber(b []byte, at int, info uint64) (uint64, int) {
	rest := b[at:]
	switch {
	case info == 24 && len(rest) >= 1:
		return uint64(rest[0]), at + 1
	case info == 25 && len(rest) >= 2:
		return uint64(binary.BigEndian.Uint16(rest)), at + 2
	case info == 26 && len(rest) >= 4:
		return uint64(binary.BigEndian.Uint32(rest)), at + 4
	case info == 27 && len(rest) >= 8:
		return binary.BigEndian.Uint64(rest), at + 8
	}
	return 0, 0
}

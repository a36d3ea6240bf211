package flow

import "encoding/binary"

// Major types of CBOR items, RFC 8949 section 3.1, in the upper three bits of a head.
const (
	majorUint   = 0 << 5
	majorNint   = 1 << 5
	majorBytes  = 2 << 5
	majorText   = 3 << 5
	majorArray  = 4 << 5
	majorMap    = 5 << 5
	majorTag    = 6 << 5
	majorSimple = 7 << 5
	majorMask   = 7 << 5

	indefinite = 31 // additional information of a length that a break ends
	breakByte  = majorSimple | indefinite

	longestHead = 9 // bytes
)

// headSize returns how many bytes a head has, by its first one; 0 for a head that is reserved.
func headSize(first byte) int {
	switch info := first &^ majorMask; {
	case info < 24:
		return 1
	case info < 28:
		return 1 + 1<<(info-24)
	case info < indefinite:
		return 0
	}
	switch first & majorMask {
	case majorUint, majorNint, majorTag:
		return 0
	}
	return 1
}

// headNumber returns the number in a whole head; 0 for an indefinite length.
func headNumber(head []byte) uint64 {
	switch len(head) {
	case 2:
		return uint64(head[1])
	case 3:
		return uint64(binary.BigEndian.Uint16(head[1:]))
	case 5:
		return uint64(binary.BigEndian.Uint32(head[1:]))
	case 9:
		return binary.BigEndian.Uint64(head[1:])
	}
	if info := head[0] &^ majorMask; info != indefinite {
		return uint64(info)
	}
	return 0
}

// appendBytesHead appends the shortest head of a byte string.
func appendBytesHead(dst []byte, size int) []byte {
	n := uint64(size)
	switch {
	case n < 24:
		return append(dst, majorBytes|byte(n))
	case n < 1<<8:
		return append(dst, majorBytes|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, majorBytes|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, majorBytes|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, majorBytes|27), n)
}

package relaytest

import (
	"encoding/binary"
	"math"
)

// The walk here is apart from the one of package frame on purpose: it tells what is in a body
// that package frame passes over.

// The major types of CBOR (RFC 8949, section 3.1), and what is in the first byte beside them.
const (
	cborUint   = 0
	cborNint   = 1
	cborBytes  = 2
	cborText   = 3
	cborArray  = 4
	cborMap    = 5
	cborTag    = 6
	cborSimple = 7

	cborBreak = 0xff
)

// A cborHead is the beginning of an item.
type cborHead struct {
	major byte
	n     uint64 // value, length or count
	size  int    // bytes of the head
	open  bool   // of indefinite length
}

// cborHeadOf reads the head at the beginning of b.
func cborHeadOf(b []byte) (h cborHead, ok bool) {
	if len(b) == 0 || b[0] == cborBreak {
		return h, false
	}
	h.major = b[0] >> 5
	info := b[0] & 0x1f
	switch {
	case info < 24:
		h.n, h.size = uint64(info), 1
	case info <= 27:
		h.size = 1 + 1<<(info-24)
		if len(b) < h.size {
			return h, false
		}
		for _, c := range b[1:h.size] {
			h.n = h.n<<8 | uint64(c)
		}
	case info == 31 && h.major >= cborBytes && h.major <= cborMap:
		h.size, h.open = 1, true
	default:
		return h, false
	}
	return h, true
}

// cborSplit cuts the first item off.
func cborSplit(b []byte) (item, rest []byte, ok bool) {
	h, ok := cborHeadOf(b)
	if !ok {
		return nil, b, false
	}
	rest = b[h.size:]
	switch h.major {
	case cborBytes, cborText:
		if !h.open {
			if uint64(len(rest)) < h.n {
				return nil, b, false
			}
			rest = rest[h.n:]
			break
		}
		_, rest, ok = cborChildren(b)
	case cborArray, cborMap, cborTag:
		_, rest, ok = cborChildren(b)
	}
	return b[:len(b)-len(rest)], rest, ok
}

// cborChildren cuts what the first item holds: elements, keys and values in turn, pieces of a
// string, what a tag is around.
func cborChildren(b []byte) (children [][]byte, rest []byte, ok bool) {
	h, ok := cborHeadOf(b)
	if !ok {
		return nil, b, false
	}
	count := h.n
	switch h.major {
	case cborMap:
		count *= 2
	case cborTag:
		count = 1
	}
	rest = b[h.size:]
	for ; h.open || count > 0; count-- {
		if h.open && len(rest) > 0 && rest[0] == cborBreak {
			return children, rest[1:], true
		}
		var child []byte
		if child, rest, ok = cborSplit(rest); !ok {
			return nil, b, false
		}
		children = append(children, child)
	}
	return children, rest, true
}

// A cborEntry is a key with its value.
type cborEntry struct{ key, value []byte }

// cborEntries returns the entries of a map.
func cborEntries(item []byte) (entries []cborEntry, ok bool) {
	if h, ok := cborHeadOf(item); !ok || h.major != cborMap {
		return nil, false
	}
	children, _, ok := cborChildren(item)
	if !ok || len(children)%2 != 0 {
		return nil, false
	}
	for i := 0; i < len(children); i += 2 {
		entries = append(entries, cborEntry{children[i], children[i+1]})
	}
	return entries, true
}

// cborKind names what an item is.
func cborKind(item []byte) string {
	switch h, _ := cborHeadOf(item); h.major {
	case cborUint:
		return "uint"
	case cborNint:
		return "nint"
	case cborBytes:
		return "bytes"
	case cborText:
		return "text"
	case cborArray:
		return "array"
	case cborMap:
		return "map"
	case cborTag:
		return "tag"
	}
	switch item[0] & 0x1f {
	case 20, 21:
		return "bool"
	case 22:
		return "null"
	case 23:
		return "undefined"
	case 25, 26, 27:
		return "float"
	}
	return "simple"
}

// cborContent returns a string with its pieces joined.
func cborContent(item []byte) []byte {
	h, _ := cborHeadOf(item)
	if !h.open {
		return item[h.size:]
	}
	var joined []byte
	pieces, _, _ := cborChildren(item)
	for _, piece := range pieces {
		joined = append(joined, cborContent(piece)...)
	}
	return joined
}

// cborWiden returns an item with every float in 64 bits.
func cborWiden(item []byte) []byte {
	h, ok := cborHeadOf(item)
	if !ok {
		return item
	}
	if cborKind(item) == "float" {
		f, _ := valueOf(item).Float()
		return binary.BigEndian.AppendUint64([]byte{cborSimple<<5 | 27}, math.Float64bits(f))
	}
	if h.major < cborArray || h.major == cborSimple {
		return item
	}
	children, _, ok := cborChildren(item)
	if !ok {
		return item
	}
	wide := append([]byte(nil), item[:h.size]...)
	for _, child := range children {
		wide = append(wide, cborWiden(child)...)
	}
	if h.open {
		wide = append(wide, cborBreak)
	}
	return wide
}

// appendCBORHead appends a head in its shortest form.
func appendCBORHead(dst []byte, major byte, n uint64) []byte {
	first := major << 5
	switch {
	case n < 24:
		return append(dst, first|byte(n))
	case n <= math.MaxUint8:
		return append(dst, first|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, first|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, first|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, first|27), n)
}

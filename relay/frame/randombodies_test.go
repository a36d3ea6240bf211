package frame_test

import (
	"encoding/binary"
	"math/rand/v2"
)

// randomBodies makes bodies that are frames or nearly so: known keys with values of the right
// and of any other kind, twice or not at all, in every encoding, and at times a byte changed.
type randomBodies struct{ *rand.Rand }

// sometimes is true once in n times.
func (r randomBodies) sometimes(n int) bool { return r.IntN(n) == 0 }

func (r randomBodies) next() []byte {
	if r.sometimes(2) {
		return r.damaged(r.plain())
	}
	var entries [][]byte
	for key, value := range [][]byte{r.head(0, 4), r.head(0, uint64(r.IntN(16))), r.id()} {
		if !r.sometimes(40) {
			entries = append(entries, append(r.head(0, uint64(key)), value...))
		}
	}
	for range r.IntN(8) {
		entries = append(entries, r.entry())
	}
	entries = append(entries, append(r.head(0, 14), r.number()...), append(r.head(0, 16), r.number()...))
	if r.sometimes(2) {
		r.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	}
	return r.damaged(r.container(5, len(entries), entries))
}

// plain returns a body as encoders write it, or nearly so: keys in ascending order, most of them
// once and with a value that fits.
func (r randomBodies) plain() []byte {
	entries := [][]byte{{0, 4}, {1, byte(3 + r.IntN(12))}, append([]byte{2, 0x50}, make([]byte, 16)...)}
	for key := 3; key <= 21; key++ {
		if key != 14 && key != 16 && key != 19 && !r.sometimes(3) || r.sometimes(20) {
			continue
		}
		value := r.fitting(key)
		if r.sometimes(60) {
			value = r.item(2)
		}
		entries = append(entries, append([]byte{byte(key)}, value...))
	}
	count := byte(len(entries))
	if r.sometimes(20) {
		count += byte(r.IntN(9)) - 4
	}
	body := []byte{0xa0 | count&0x1f}
	for _, entry := range entries {
		body = append(body, entry...)
	}
	return body
}

// damaged returns a body with something wrong in it, at times.
func (r randomBodies) damaged(body []byte) []byte {
	switch {
	case r.sometimes(12):
		body[r.IntN(len(body))] = byte(r.Uint32())
	case r.sometimes(30):
		body = body[:r.IntN(len(body))]
	case r.sometimes(40):
		body = append(body, byte(r.Uint32()))
	}
	return body
}

// entry returns a key and a value that may stand under it.
func (r randomBodies) entry() []byte {
	if r.sometimes(10) {
		return append(r.item(2), r.item(2)...)
	}
	key := r.IntN(23)
	value := r.item(2)
	if !r.sometimes(8) {
		value = r.fitting(key)
	}
	return append(r.head(0, uint64(key)), value...)
}

// fitting returns a value as a key holds it.
func (r randomBodies) fitting(key int) []byte {
	switch key {
	case 0:
		return r.head(0, 4)
	case 2, 13:
		return r.id()
	case 4, 10, 11, 12:
		return r.str(3)
	case 5:
		return r.meta()
	case 6:
		return r.str(2)
	case 9, 17, 18, 20:
		return []byte{0xf4 | byte(r.IntN(2))}
	}
	return r.number()
}

func (r randomBodies) number() []byte {
	if r.sometimes(60) {
		return r.head(1, r.Uint64()>>r.IntN(64))
	}
	return r.head(0, r.Uint64()>>r.IntN(64))
}

func (r randomBodies) id() []byte {
	if r.sometimes(3) {
		return r.number()
	}
	b := make([]byte, 16)
	if r.sometimes(30) {
		b = b[:r.IntN(16)]
	}
	return r.strOf(2, b)
}

func (r randomBodies) meta() []byte {
	var entries [][]byte
	for range r.IntN(5) {
		name := r.strOf(3, []byte{byte('a' + r.IntN(3))})
		if r.sometimes(8) {
			name = r.item(3)
		}
		entries = append(entries, append(name, r.item(3)...))
	}
	return r.container(5, len(entries), entries)
}

func (r randomBodies) str(major byte) []byte {
	b := make([]byte, r.IntN(40))
	for i := range b {
		b[i] = byte(' ' + r.IntN(90))
	}
	if r.sometimes(5) {
		b = append(b, "äöü€𝄞"...)
	}
	if r.sometimes(40) {
		b = append(b, byte(r.Uint32()))
	}
	return r.strOf(major, b)
}

// strOf returns a string in one piece or in several, which may cut a rune.
func (r randomBodies) strOf(major byte, b []byte) []byte {
	if !r.sometimes(8) {
		return append(r.head(major, uint64(len(b))), b...)
	}
	out := []byte{major<<5 | 31}
	for len(b) > 0 {
		n := r.IntN(len(b) + 1)
		out = append(append(out, r.head(major, uint64(n))...), b[:n]...)
		b = b[n:]
	}
	return append(out, 0xff)
}

// item returns any item.
func (r randomBodies) item(depth int) []byte {
	if r.sometimes(200) {
		depth = -r.IntN(70) // nested deep
	}
	switch major := byte(r.IntN(8)); {
	case major <= 1:
		return r.head(major, r.Uint64()>>r.IntN(64))
	case major <= 3:
		return r.str(major)
	case major == 6 && depth < 5:
		return append(r.head(6, r.Uint64()>>r.IntN(64)), r.item(depth+1)...)
	case major <= 5 && depth < 0:
		return r.container(4, 1, [][]byte{r.item(depth + 1)})
	case major <= 5 && depth < 5:
		return r.items(major, depth)
	}
	return [][]byte{{0xf4}, {0xf5}, {0xf6}, {0xf7}, {0xe0}, {0xf8, 0xff}, {0xf9, 0x3c, 0}, {0xfa, 0x7f, 0x80, 0, 0}, {0xfb, 0, 0, 0, 0, 0, 0, 0, 1}}[r.IntN(9)]
}

func (r randomBodies) items(major byte, depth int) []byte {
	var all [][]byte
	n := r.IntN(4)
	for range n {
		item := r.item(depth + 1)
		if major == 5 {
			item = append(item, r.item(depth+1)...)
		}
		all = append(all, item)
	}
	return r.container(major, n, all)
}

func (r randomBodies) container(major byte, n int, all [][]byte) []byte {
	open := r.sometimes(6)
	out := r.head(major, uint64(n))
	if open {
		out = []byte{major<<5 | 31}
	}
	for _, item := range all {
		out = append(out, item...)
	}
	if open {
		out = append(out, 0xff)
	}
	return out
}

// head returns a head, at times longer than it has to be.
func (r randomBodies) head(major byte, n uint64) []byte {
	width := r.IntN(5)
	if !r.sometimes(6) {
		width = 0
	}
	major <<= 5
	switch {
	case n < 24 && width == 0:
		return []byte{major | byte(n)}
	case n < 1<<8 && width <= 1:
		return []byte{major | 24, byte(n)}
	case n < 1<<16 && width <= 2:
		return binary.BigEndian.AppendUint16([]byte{major | 25}, uint16(n))
	case n < 1<<32 && width <= 3:
		return binary.BigEndian.AppendUint32([]byte{major | 26}, uint32(n))
	}
	return binary.BigEndian.AppendUint64([]byte{major | 27}, n)
}

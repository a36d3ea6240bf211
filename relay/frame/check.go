package frame

import (
	"encoding/binary"

	"github.com/cosim-go/cosim/relay/internal/cbor"
)

// Check tests a body as [Decode] does and returns the head of its frame. It never allocates,
// except for an error.
func Check(body []byte) (Head, error) {
	var h Head
	if err := check(body, &h); err != nil {
		return Head{}, err
	}
	return h, nil
}

// check sets h. A head is large enough to be worth a pointer on the way of every frame.
func check(body []byte, h *Head) error {
	h.RoutingID, h.Seq = ID{}, 0
	if checkPlain(body, h) {
		return nil
	}
	d := decoder{scanner: scanner{b: body}}
	if err := d.frame(); err != nil {
		return err
	}
	*h = d.headOf()
	return nil
}

// Keys that a relay has to see, but for those of the head.
const (
	chunkKeys  keySet = 1<<keyChunkIndex | 1<<keyChecksum
	creditKeys keySet = 1 << keyCredit
)

// checkPlain checks a body as the encoder of this package writes it: known keys, in ascending
// order, with values of the kinds that they hold, whose id is a UUID. It returns false, and
// leaves h in any state, for anything else, good or bad: that is for a decoder, which needs
// twice the time.
func checkPlain(b []byte, h *Head) bool {
	if len(b) < plainStart || len(b) > HardMaxFrame || b[0] < cbor.Map|3 || b[0] >= cbor.Map|24 ||
		b[1] != keyVersion || b[2] != Version || b[3] != keyType || !Type(b[4]).Valid() || b[5] != keyID || b[6] != cbor.Bytes|16 {
		return false
	}
	h.Type = Type(b[4])
	h.ID = ID{uuidID, binary.BigEndian.Uint64(b[7:]), binary.BigEndian.Uint64(b[15:])}
	i := plainStart
	last := byte(keyID)
	var seen keySet
	for left := int(b[0]&^cbor.Mask) - 3; left > 0; left-- {
		if len(b)-i < 2 || b[i] <= last || b[i] > largestKey {
			return false
		}
		key, first := b[i], b[i+1]
		last = key
		seen |= 1 << key
		info := uint64(first &^ cbor.Mask)
		at := i + 2
		number := info
		if info >= 24 {
			if number, at = cbor.WideNumber(b, at, info); at == 0 {
				return false
			}
		}
		switch major := first & cbor.Mask; keyHolds[key] {
		case holdsNumber:
			if major != cbor.Uint {
				return false
			}
			if key == keySeq {
				h.Seq = number
			}
		case holdsText:
			if major != cbor.Text || number > uint64(len(b)-at) || !isASCII(b[at:at+int(number)]) {
				return false
			}
			at += int(number)
		case holdsBytes:
			if major != cbor.Bytes || number > uint64(len(b)-at) {
				return false
			}
			at += int(number)
		case holdsID:
			if major != cbor.Uint {
				return false
			}
			h.RoutingID = Number(number)
		case holdsBool:
			if first&^1 != cbor.False {
				return false
			}
		default:
			s := scanner{b: b, i: i + 1}
			if major != cbor.Map || !s.item(1) {
				return false
			}
			at = s.i
		}
		i = at
	}
	return i == len(b) &&
		(h.Type != TypeChunk || seen&chunkKeys == chunkKeys) && (h.Type != TypeCredit || seen&creditKeys != 0)
}

// plainStart is how long the map's head, version, type and a UUID are, in this order.
const plainStart = 1 + 2 + 2 + 2 + 16

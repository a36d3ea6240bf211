package frame

import (
	"encoding/binary"

	"github.com/cosim-go/cosim/relay/internal/cbor"
)

// plainEntries walks over up to n entries as every implementation writes them: a known key in
// its shortest form, and a value of the kind that it holds, in one piece. It returns how many
// it walked over, and stops at the first that is different in any way, good or bad: that is
// for entry, which does the same for all that is legal.
//
// It is one loop without calls and keeps what it works on in registers, which takes a third of
// the time.
func (d *decoder) plainEntries(n uint64) (done uint64) {
	b, i := d.b, d.i
	var good keySet
	for ; done < n; done++ {
		if len(b)-i < 2 || b[i] > largestKey {
			break
		}
		key, first := b[i], b[i+1]
		holds := keyHolds[key]
		at := i + 2 // behind the value's head
		number := uint64(first &^ cbor.Mask)
		if number >= 24 {
			number, at = cbor.WideNumber(b, at, number)
			if at == 0 {
				break
			}
		}
		switch major := first & cbor.Mask; {
		case holds == holdsNumber && major == cbor.Uint:
			d.numbers[key] = number
			d.spans[key].start = uint32(i + 1)
		case holds == holdsText && major == cbor.Text, holds == holdsBytes && major == cbor.Bytes:
			if number > uint64(len(b)-at) || holds == holdsText && !isASCII(b[at:at+int(number)]) {
				goto out
			}
			d.spans[key] = span{uint32(at), uint32(at + int(number))}
			at += int(number)
		case holds == holdsID && major == cbor.Uint:
			*d.idOf(key) = Number(number)
			d.spans[key].start = uint32(i + 1)
		case holds == holdsID && first == cbor.Bytes|16 && len(b)-at >= 16:
			*d.idOf(key) = ID{uuidID, binary.BigEndian.Uint64(b[at:]), binary.BigEndian.Uint64(b[at+8:])}
			d.spans[key].start = uint32(i + 1)
			at += 16
		case holds == holdsBool && first&^1 == cbor.False:
			d.numbers[key] = uint64(first & 1)
			d.spans[key].start = uint32(i + 1)
		default:
			goto out
		}
		i = at
		good |= 1 << key
	}
out:
	d.i = i
	d.found |= good
	d.usable |= good
	d.negative &^= good
	d.pieces &^= good
	return done
}

func (d *decoder) idOf(key byte) *ID {
	if key == keyID {
		return &d.id
	}
	return &d.routingID
}

// isASCII reports whether no byte has its highest bit set.
func isASCII(b []byte) bool {
	for len(b) >= 8 {
		if binary.LittleEndian.Uint64(b)&0x8080808080808080 != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

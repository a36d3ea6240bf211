package frame

import (
	"encoding/binary"

	"github.com/cosim-go/cosim/relay/internal/cbor"
)

// AppendRestamped appends a frame, length prefix and body, to dst and returns the extended
// slice: the frame that was read as body, whose head is h, with seq for its number if its type
// belongs to a flow and, when it has no routing id and xid is one, with that. All else stays
// byte for byte, also what is under unknown keys, and in its order. body must be one that
// [Check] or [Decode] took; h may be of an older copy of the frame.
//
// The number and the routing id are written in the shortest form; where the keys of body
// ascend they still do. AppendRestamped fails with [ErrFrameTooLarge] when the body would be
// longer than [HardMaxFrame], with [ErrInvalidFrame] when body is no map, and returns dst as it
// was. It allocates nothing when dst has room.
func AppendRestamped(dst, body []byte, h *Head, seq uint64, xid ID) ([]byte, error) {
	var p restamp
	if !p.plain(body) && !p.any(body) {
		return dst, Errorf(ErrInvalidFrame, "a %v frame whose body is no map", h.Type)
	}
	begin := len(dst)
	number := h.Type.Flow()
	route := !p.routed && !xid.IsZero()
	added := 0
	if number && p.seqStart == p.seqEnd {
		added++
	}
	if route {
		added++
	}
	dst = append(dst, 0, 0, 0, 0)
	dst = p.appendMapHead(dst, body, added)
	at := p.entries
	if number {
		dst = append(dst, body[at:p.seqStart]...)
		if p.seqStart == p.seqEnd {
			dst = append(dst, keySeq)
		}
		dst = cbor.AppendHead(dst, cbor.Uint, seq)
		at = p.seqEnd
	}
	if route {
		dst = append(dst, body[at:p.xidAt]...)
		dst = append(dst, keyRoutingID)
		dst = appendID(dst, xid)
		at = p.xidAt
	}
	dst = append(dst, body[at:]...)
	size := len(dst) - begin - PrefixSize
	if size > HardMaxFrame {
		return dst[:begin], Errorf(ErrFrameTooLarge, "a %v frame of %d bytes, at most %d are written", h.Type, size, HardMaxFrame)
	}
	binary.BigEndian.PutUint32(dst[begin:], uint32(size))
	return dst, nil
}

// A restamp is where in a body things are to be written, as offsets.
type restamp struct {
	entries  int    // the first entry of the map
	count    uint64 // of entries
	open     bool   // the map ends with a break
	seqStart int    // the number; where key 3 has to be added it is empty
	seqEnd   int
	xidAt    int  // where a routing id has to be added, behind the number
	routed   bool // there is a routing id
}

// any finds the places in any legal body. Where keys do not ascend, what is added goes to the
// end. The last of several numbers counts.
func (p *restamp) any(body []byte) bool {
	*p = restamp{}
	s := scanner{b: body}
	major, n, open, ok := s.head()
	if !ok || major != cbor.Map {
		return false
	}
	p.entries, p.count, p.open = s.i, n, open
	for ; open || n > 0; n-- {
		if open && s.i < len(body) && body[s.i] == cbor.Break {
			break
		}
		major, key, _, ok := s.peek()
		if !ok || !s.item(1) {
			return false
		}
		start := s.i
		if !s.item(1) {
			return false
		}
		if major == cbor.Uint && key == keySeq {
			p.seqStart, p.seqEnd = start, s.i
		}
		p.routed = p.routed || major == cbor.Uint && key == keyRoutingID
	}
	p.xidAt = s.i
	if p.seqEnd == 0 {
		p.seqStart, p.seqEnd = s.i, s.i
	}
	return true
}

// peek returns the head that comes next.
func (s *scanner) peek() (major byte, n uint64, open, ok bool) {
	ahead := *s
	return ahead.head()
}

// plain finds the places in a body whose entries are as every implementation writes them: with
// keys that ascend, in one byte, and a definite length in the map's first byte.
func (p *restamp) plain(b []byte) bool {
	if len(b) == 0 || b[0]&cbor.Mask != cbor.Map || b[0]&^cbor.Mask >= 24 {
		return false
	}
	left := int(b[0] &^ cbor.Mask)
	*p = restamp{entries: 1, count: uint64(left)}
	i, last := 1, -1
	for ; left > 0; left-- {
		if len(b)-i < 2 || b[i] >= 24 || int(b[i]) <= last {
			return false
		}
		key, first := b[i], b[i+1]
		if last < keySeq && key > keySeq {
			p.seqStart, p.seqEnd = i, i
		}
		if last < keyRoutingID && key > keyRoutingID {
			p.xidAt = i
		}
		last = int(key)
		number, at := uint64(first&^cbor.Mask), i+2
		if number >= 24 {
			if number, at = cbor.WideNumber(b, at, number); at == 0 {
				return false
			}
		}
		switch first & cbor.Mask {
		case cbor.Uint, cbor.Nint:
		case cbor.Bytes, cbor.Text:
			if number > uint64(len(b)-at) {
				return false
			}
			at += int(number)
		default:
			s := scanner{b: b, i: i + 1}
			if !s.item(1) {
				return false
			}
			at = s.i
		}
		switch key {
		case keySeq:
			p.seqStart, p.seqEnd = i+1, at
		case keyRoutingID:
			p.routed = true
		}
		i = at
	}
	if last < keySeq {
		p.seqStart, p.seqEnd = i, i
	}
	if last < keyRoutingID {
		p.xidAt = i
	}
	return i == len(b)
}

// appendMapHead appends the head of the map, for some entries more.
func (p *restamp) appendMapHead(dst, body []byte, added int) []byte {
	if p.open || added == 0 {
		return append(dst, body[:p.entries]...)
	}
	return cbor.AppendHead(dst, cbor.Map, p.count+uint64(added))
}

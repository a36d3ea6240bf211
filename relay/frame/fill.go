package frame

import "github.com/fxamacker/cbor/v2"

// headOf returns what a relay has to know.
func (d *decoder) headOf() Head {
	return Head{Type(d.numbers[keyType]), d.id, d.routingID, d.numberOr0(keySeq)}
}

// fill makes the frame of what was found.
func (d *decoder) fill(f *Frame) {
	*f = Frame{
		Type:      Type(d.numbers[keyType]),
		ID:        d.id,
		RoutingID: d.routingID,
		Seq:       d.numberOr0(keySeq),

		ContentType: d.content(keyContentType),
		Payload:     d.content(keyPayload),
		Len:         d.optional(keyLen),
		Offset:      d.optional(keyOffset),
		EOF:         d.truth(keyEOF),
		Cap:         d.content(keyCap),
		StreamID:    d.content(keyStreamID),
		MediaURN:    d.content(keyMediaURN),
		ChunkIndex:  d.optional(keyChunkIndex),
		ChunkCount:  d.optional(keyChunkCount),
		Checksum:    d.optional(keyChecksum),
		IsSequence:  d.truth(keyIsSequence),
		ForceKill:   d.truth(keyForceKill),
		Credit:      d.optional(keyCredit),
		Unbounded:   d.truth(keyUnbounded),
	}
	if d.usable.has(keyMeta) {
		s := d.spans[keyMeta]
		f.Meta = Meta{d.b[s.start:s.end:s.end], d.neatMeta}
	}
}

func (d *decoder) numberOr0(key int) uint64 {
	if d.usable.has(key) {
		return d.numbers[key]
	}
	return 0
}

func (d *decoder) optional(key int) Optional[uint64] {
	if d.usable.has(key) {
		return Some(d.numbers[key])
	}
	return Optional[uint64]{}
}

func (d *decoder) truth(key int) Optional[bool] {
	if d.usable.has(key) {
		return Some(d.numbers[key] == 1)
	}
	return Optional[bool]{}
}

// content returns what a string holds, nil when there is none.
func (d *decoder) content(key int) []byte {
	if !d.usable.has(key) {
		return nil
	}
	s := d.spans[key]
	if d.pieces.has(key) {
		return joined(d.b[s.start:s.end])
	}
	return d.b[s.start:s.end:s.end]
}

// joined returns the content of a well-formed string in pieces.
func joined(item []byte) []byte {
	if item[0]&majorMask == majorText {
		var text string
		if err := cbor.Unmarshal(item, &text); err != nil {
			panic("frame: a string that was checked: " + err.Error())
		}
		return []byte(text)
	}
	b := []byte{}
	if err := cbor.Unmarshal(item, &b); err != nil {
		panic("frame: a string that was checked: " + err.Error())
	}
	return b
}

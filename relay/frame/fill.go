package frame

// headOf returns what a relay has to know.
func (d *decoder) headOf() Head {
	return Head{Type(d.numbers[keyType]), d.id, d.routingID, d.numberOr0(keySeq)}
}

// fill makes the frame of what was found.
func (d *decoder) fill(f *Frame) {
	*f = Frame{}
	f.Type = Type(d.numbers[keyType])
	f.ID = d.id
	f.RoutingID = d.routingID
	f.Seq = d.numberOr0(keySeq)

	f.ContentType = d.content(keyContentType)
	f.Payload = d.content(keyPayload)
	f.Len = d.optional(keyLen)
	f.Offset = d.optional(keyOffset)
	f.EOF = d.truth(keyEOF)
	f.Cap = d.content(keyCap)
	f.StreamID = d.content(keyStreamID)
	f.MediaURN = d.content(keyMediaURN)
	f.ChunkIndex = d.optional(keyChunkIndex)
	f.ChunkCount = d.optional(keyChunkCount)
	f.Checksum = d.optional(keyChecksum)
	f.IsSequence = d.truth(keyIsSequence)
	f.ForceKill = d.truth(keyForceKill)
	f.Credit = d.optional(keyCredit)
	f.Unbounded = d.truth(keyUnbounded)
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

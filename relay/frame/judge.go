package frame

import "github.com/fxamacker/cbor/v2"

// Keys that must hold nothing negative, whatever the type of the frame.
const unsignedKeys = 1<<keySeq | 1<<keyLen | 1<<keyOffset | 1<<keyChunkIndex | 1<<keyChunkCount |
	1<<keyChecksum | 1<<keyCredit

// judge says whether a well-formed map is a frame.
func (d *decoder) judge() *Error {
	if e := d.judgeVersion(); e != nil {
		return e
	}
	if e := d.judgeType(); e != nil {
		return e
	}
	if e := d.judgeIDs(); e != nil {
		return e
	}
	if negative := d.negative & unsignedKeys; negative != 0 {
		return d.negativeNumber(negative)
	}
	f := d.f
	switch {
	case f.Type == TypeChunk && !f.ChunkIndex.set:
		return d.invalid(keyChunkIndex, "a chunk without chunk_index")
	case f.Type == TypeChunk && !f.Checksum.set:
		return d.invalid(keyChecksum, "a chunk without checksum")
	case f.Type == TypeCredit && !f.Credit.set:
		return d.invalid(keyCredit, "a credit frame without credit")
	}
	return nil
}

func (d *decoder) judgeVersion() *Error {
	const bit = 1 << keyVersion
	switch {
	case d.found&bit == 0:
		return d.invalid(keyVersion, "no version")
	case d.unusable&bit != 0:
		return d.invalid(keyVersion, "a version that is no integer")
	case d.negative&bit != 0:
		return d.invalid(keyVersion, "version is negative, want version %d", Version)
	case d.version != Version:
		return d.invalid(keyVersion, "version %d, want version %d", d.version, Version)
	}
	return nil
}

func (d *decoder) judgeType() *Error {
	const bit = 1 << keyType
	switch {
	case d.found&bit == 0:
		return d.invalid(keyType, "no frame type")
	case (d.unusable|d.negative)&bit != 0:
		return d.invalid(keyType, "a frame type that is no unsigned integer")
	case d.kind >= numTypes || !Type(d.kind).Valid():
		return d.invalid(keyType, "unknown frame type %d", d.kind)
	}
	d.f.Type = Type(d.kind)
	return nil
}

func (d *decoder) judgeIDs() *Error {
	switch {
	case d.found&(1<<keyID) == 0:
		return d.invalid(keyID, "no id")
	case d.unusable&(1<<keyID) != 0:
		return d.invalid(keyID, "an id that is neither 16 bytes nor an unsigned number")
	case d.unusable&(1<<keyRoutingID) != 0:
		return d.invalid(keyRoutingID, "a routing id that is neither 16 bytes nor an unsigned number")
	}
	return nil
}

func (d *decoder) negativeNumber(keys uint32) *Error {
	for key := range d.at {
		if keys>>key&1 == 1 {
			return d.invalid(key, "a negative number under key %d", key)
		}
	}
	panic("frame: no key is negative")
}

// invalid returns an error about what is under a key, or about the map when nothing is.
func (d *decoder) invalid(key int, format string, args ...any) *Error {
	return faultAt(ErrInvalidFrame, d.at[key], format, args...)
}

// join puts together the strings that came in pieces.
func (d *decoder) join() {
	f := d.f
	d.joinField(keyContentType, &f.ContentType)
	d.joinField(keyPayload, &f.Payload)
	d.joinField(keyCap, &f.Cap)
	d.joinField(keyStreamID, &f.StreamID)
	d.joinField(keyMediaURN, &f.MediaURN)
}

func (d *decoder) joinField(key int, field *[]byte) {
	if d.pieces>>key&1 == 1 {
		*field = joined(d.b[d.at[key]:])
	}
}

// joined returns the content of the string in pieces that a well-formed body goes on with.
func joined(rest []byte) []byte {
	s := scanner{b: rest}
	s.item(MaxNesting)
	if rest[0]&majorMask == majorText {
		var text string
		if err := cbor.Unmarshal(rest[:s.i], &text); err != nil {
			panic("frame: a string that was checked: " + err.Error())
		}
		return []byte(text)
	}
	b := []byte{}
	if err := cbor.Unmarshal(rest[:s.i], &b); err != nil {
		panic("frame: a string that was checked: " + err.Error())
	}
	return b
}

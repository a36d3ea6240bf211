package frame

import (
	"unicode/utf8"

	"github.com/cosim-go/cosim/relay/internal/cbor"
)

// Append appends the frame's body, without a length prefix, and returns the extended slice.
// The bytes are canonical: definite lengths, shortest heads, keys in ascending order, names of
// meta in ascending order of their bytes. A field is written when it is set, also when it is
// empty, 0 or false; key 3 (seq) always.
//
// Append fails with [ErrEncode], and returns dst as it was, for a frame that [Decode] would
// refuse: an unknown type, no id, a CHUNK without index or checksum, a CREDIT without credit,
// a text that is not UTF-8. The length of the body is for a [Writer] to look at. Append does not
// allocate when dst has room, except for a Meta that was decoded from bytes that were not canonical.
func (f *Frame) Append(dst []byte) ([]byte, error) {
	if err := f.encodable(); err != nil {
		return dst, err
	}
	dst = f.appendStart(dst)
	dst = append(dst, f.Payload...)
	return f.appendRest(dst), nil
}

// Sendable returns an error of kind [ErrEncode] when the frame carries a number of 2^63 or
// more where peers cannot read one: as an id, or under any key but checksum and credit. Other
// implementations write such a number as a negative one. A [Writer] refuses such frames; a
// relay passes them on.
func (f *Frame) Sendable() error {
	all := f.ID.lowest() | f.RoutingID.lowest() | f.Seq | f.Len.value | f.Offset.value |
		f.ChunkIndex.value | f.ChunkCount.value
	if all >= firstUnsafeCount {
		return Errorf(ErrEncode, "%v frame with an id, number, length, offset, index or count of 2^63 or more", f.Type)
	}
	return nil
}

// lowest returns a numeric id's number, and 0 for any other id.
func (id ID) lowest() uint64 {
	if id.form == numberID {
		return id.lo
	}
	return 0
}

func (f *Frame) encodable() error {
	switch {
	case !f.Type.Valid():
		return Errorf(ErrEncode, "unknown frame type %d", uint8(f.Type))
	case f.ID.IsZero():
		return Errorf(ErrEncode, "%v frame without an id", f.Type)
	case f.Type == TypeChunk && !(f.ChunkIndex.set && f.Checksum.set):
		return Errorf(ErrEncode, "chunk frame without index or checksum")
	case f.Type == TypeCredit && !f.Credit.set:
		return Errorf(ErrEncode, "credit frame without credit")
	case !isText(f.ContentType) || !isText(f.Cap) || !isText(f.StreamID) || !isText(f.MediaURN):
		return Errorf(ErrEncode, "%v frame with a text that is not UTF-8", f.Type)
	}
	return nil
}

// entries counts the keys that are written.
func (f *Frame) entries() byte {
	return 4 + one(f.ContentType != nil) + one(f.Meta.raw != nil) + one(f.Payload != nil) +
		one(f.Len.set) + one(f.Offset.set) + one(f.EOF.set) + one(f.Cap != nil) + one(f.StreamID != nil) +
		one(f.MediaURN != nil) + one(!f.RoutingID.IsZero()) + one(f.ChunkIndex.set) + one(f.ChunkCount.set) +
		one(f.Checksum.set) + one(f.IsSequence.set) + one(f.ForceKill.set) + one(f.Credit.set) + one(f.Unbounded.set)
}

// one returns 1 for true, without a branch.
func one(present bool) (n byte) {
	if present {
		n = 1
	}
	return n
}

// isText reports whether bytes are UTF-8. Most are ASCII, which is found out faster.
func isText(b []byte) bool { return isASCII(b) || utf8.Valid(b) }

// appendStart appends what stands before the bytes of the payload.
func (f *Frame) appendStart(dst []byte) []byte {
	dst = append(dst, cbor.Map|f.entries(), keyVersion, Version, keyType, byte(f.Type), keyID)
	dst = appendID(dst, f.ID)
	dst = append(dst, keySeq)
	dst = cbor.AppendHead(dst, cbor.Uint, f.Seq)
	dst = appendText(dst, keyContentType, f.ContentType)
	if f.Meta.raw != nil {
		dst = append(dst, keyMeta)
		dst = f.Meta.appendCanonical(dst)
	}
	if f.Payload != nil {
		dst = append(dst, keyPayload)
		dst = cbor.AppendHead(dst, cbor.Bytes, uint64(len(f.Payload)))
	}
	return dst
}

// appendRest appends what stands behind the bytes of the payload.
func (f *Frame) appendRest(dst []byte) []byte {
	dst = appendNumber(dst, keyLen, f.Len)
	dst = appendNumber(dst, keyOffset, f.Offset)
	dst = appendBool(dst, keyEOF, f.EOF)
	dst = appendText(dst, keyCap, f.Cap)
	dst = appendText(dst, keyStreamID, f.StreamID)
	dst = appendText(dst, keyMediaURN, f.MediaURN)
	if !f.RoutingID.IsZero() {
		dst = append(dst, keyRoutingID)
		dst = appendID(dst, f.RoutingID)
	}
	dst = appendNumber(dst, keyChunkIndex, f.ChunkIndex)
	dst = appendNumber(dst, keyChunkCount, f.ChunkCount)
	dst = appendNumber(dst, keyChecksum, f.Checksum)
	dst = appendBool(dst, keyIsSequence, f.IsSequence)
	dst = appendBool(dst, keyForceKill, f.ForceKill)
	dst = appendNumber(dst, keyCredit, f.Credit)
	return appendBool(dst, keyUnbounded, f.Unbounded)
}

func appendID(dst []byte, id ID) []byte {
	if id.form == numberID {
		return cbor.AppendHead(dst, cbor.Uint, id.lo)
	}
	return id.AppendBytes(append(dst, cbor.Bytes|16))
}

func appendText(dst []byte, key byte, text []byte) []byte {
	if text == nil {
		return dst
	}
	if len(text) < 24 {
		dst = append(dst, key, cbor.Text|byte(len(text)))
	} else {
		dst = cbor.AppendHead(append(dst, key), cbor.Text, uint64(len(text)))
	}
	return append(dst, text...)
}

func appendNumber(dst []byte, key byte, n Optional[uint64]) []byte {
	if !n.set {
		return dst
	}
	return cbor.AppendHead(append(dst, key), cbor.Uint, n.value)
}

func appendBool(dst []byte, key byte, b Optional[bool]) []byte {
	if !b.set {
		return dst
	}
	if b.value {
		return append(dst, key, cbor.True)
	}
	return append(dst, key, cbor.False)
}

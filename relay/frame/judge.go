package frame

import (
	"math/big"
	"math/bits"
)

// Keys that must hold nothing negative, whatever the type of the frame.
const unsignedKeys keySet = 1<<keySeq | 1<<keyLen | 1<<keyOffset | 1<<keyChunkIndex |
	1<<keyChunkCount | 1<<keyChecksum | 1<<keyCredit

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
	if d.negative&unsignedKeys != 0 {
		return d.negativeNumber()
	}
	switch t := Type(d.numbers[keyType]); {
	case t == TypeChunk && !d.usable.has(keyChunkIndex):
		return d.invalid(keyChunkIndex, "a chunk without chunk_index")
	case t == TypeChunk && !d.usable.has(keyChecksum):
		return d.invalid(keyChecksum, "a chunk without checksum")
	case t == TypeCredit && !d.usable.has(keyCredit):
		return d.invalid(keyCredit, "a credit frame without credit")
	}
	return nil
}

func (d *decoder) judgeVersion() *Error {
	switch {
	case d.usable.has(keyVersion) && d.numbers[keyVersion] == Version:
		return nil
	case !d.found.has(keyVersion):
		return d.invalid(keyVersion, "no version")
	case d.usable.has(keyVersion):
		return d.invalid(keyVersion, "version %d, want version %d", d.numbers[keyVersion], Version)
	case d.negative.has(keyVersion):
		return d.invalid(keyVersion, "version -%d, want version %d", new(big.Int).Add(big.NewInt(1), new(big.Int).SetUint64(d.numbers[keyVersion])), Version)
	}
	return d.invalid(keyVersion, "a version that is no integer")
}

func (d *decoder) judgeType() *Error {
	switch n := d.numbers[keyType]; {
	case !d.found.has(keyType):
		return d.invalid(keyType, "no frame type")
	case !d.usable.has(keyType):
		return d.invalid(keyType, "a frame type that is no unsigned integer")
	case n >= numTypes || !Type(n).Valid():
		return d.invalid(keyType, "unknown frame type %d", n)
	}
	return nil
}

func (d *decoder) judgeIDs() *Error {
	switch {
	case !d.found.has(keyID):
		return d.invalid(keyID, "no id")
	case !d.usable.has(keyID):
		return d.invalid(keyID, "an id that is neither 16 bytes nor an unsigned number")
	case d.found.has(keyRoutingID) && !d.usable.has(keyRoutingID):
		return d.invalid(keyRoutingID, "a routing id that is neither 16 bytes nor an unsigned number")
	}
	return nil
}

func (d *decoder) negativeNumber() *Error {
	key := bits.TrailingZeros32(uint32(d.negative & unsignedKeys))
	return d.invalid(key, "a negative number under key %d", key)
}

// invalid returns an error about what is under a key, or about the map when nothing is.
func (d *decoder) invalid(key int, format string, args ...any) *Error {
	return faultAt(ErrInvalidFrame, int(d.spans[key].start), format, args...)
}

package flow

import (
	"errors"
	"unicode/utf8"

	"github.com/cosim-go/cosim/relay/internal/cbor"
)

var (
	errNoString   = errors.New("a payload that is neither a CBOR byte string nor a text")
	errCutString  = errors.New("a CBOR string that goes on behind the payload")
	errPiece      = errors.New("a CBOR string with a piece that is none")
	errNotUTF8    = errors.New("a CBOR text that is not UTF-8")
	errMoreBehind = errors.New("a payload with bytes behind its CBOR string")
)

// stringIn returns what is in the CBOR byte string or text that a payload is. Only a string of
// indefinite length is copied.
func stringIn(payload []byte) ([]byte, error) {
	if len(payload) == 0 {
		return nil, errNoString
	}
	major := payload[0] & cbor.Mask
	switch {
	case major != cbor.Bytes && major != cbor.Text:
		return nil, errNoString
	case payload[0] == major|cbor.Indefinite:
		return joinPieces(major, payload[1:])
	}
	content, rest, err := cutString(major, payload)
	if err == nil && len(rest) > 0 {
		err = errMoreBehind
	}
	return content, err
}

// cutString returns what is in the string of definite length that b begins with.
func cutString(major byte, b []byte) (content, rest []byte, err error) {
	if len(b) == 0 {
		return nil, nil, errCutString
	}
	size := cbor.HeadSize(b[0])
	switch {
	case size == 0 || b[0]&cbor.Mask != major || b[0] == major|cbor.Indefinite:
		return nil, nil, errPiece
	case size > len(b):
		return nil, nil, errCutString
	}
	n := cbor.HeadNumber(b[:size])
	b = b[size:]
	if n > uint64(len(b)) {
		return nil, nil, errCutString
	}
	content = b[:n]
	if major == cbor.Text && !utf8.Valid(content) {
		return nil, nil, errNotUTF8
	}
	return content, b[n:], nil
}

// joinPieces returns what is in the pieces of a string of indefinite length, up to its break.
func joinPieces(major byte, b []byte) ([]byte, error) {
	joined := []byte{}
	for len(b) == 0 || b[0] != cbor.Break {
		piece, rest, err := cutString(major, b)
		if err != nil {
			return nil, err
		}
		joined = append(joined, piece...)
		b = rest
	}
	if len(b) > 1 {
		return nil, errMoreBehind
	}
	return joined, nil
}

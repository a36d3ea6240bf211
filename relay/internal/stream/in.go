package stream

import (
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// A Piece is what a CHUNK brings.
type Piece struct {
	Data  []byte    // of a scalar: bytes, or those of a text
	Item  flow.Item // of a sequence, or a value of a scalar that is neither bytes nor text
	Whole bool      // there is something; false for a part of an item
	IsRaw bool      // Data is a piece of a payload as it is
	Value bool      // there is an Item, no Data
}

// An In takes the CHUNKs of a stream apart. It is not safe for concurrent use.
type In struct {
	verifier *flow.Verifier // of a scalar
	items    *flow.Items    // of a sequence
	raw      bool
	first    bool // the next CHUNK is the first
}

// NewIn returns what takes apart the stream that a STREAM_START begins, with items of at most maxItem bytes; 0
// is 64 MiB. It keeps nothing of start.
func NewIn(start *frame.Frame, maxItem int) *In {
	in := &In{first: true}
	if start.IsSequence.Or(false) {
		in.items, _ = flow.NewItems(start, &flow.ItemsOptions{MaxBytes: maxItem}) // only a scalar is refused
		return in
	}
	in.verifier = flow.NewVerifier(start)
	return in
}

// Chunk takes the next CHUNK. What it returns may borrow from f and from the In, until the next call. Its
// errors are of kind frame.ErrProtocol, or flow.ErrTooLong, and for good.
func (in *In) Chunk(f *frame.Frame) (Piece, error) {
	if in.items != nil {
		item, whole, err := in.items.Chunk(f)
		return Piece{Item: item, Whole: whole, Value: true}, err
	}
	if err := in.verifier.Chunk(f); err != nil {
		return Piece{}, err
	}
	if in.first {
		in.first, in.raw = false, f.Len.IsSet()
	}
	if in.raw {
		return Piece{Data: f.Payload, Whole: true, IsRaw: true}, nil
	}
	return scalar(f)
}

// Continued reports whether the last CHUNK went on with an item.
func (in *In) Continued() bool { return in.items != nil && in.items.Continued() }

// End takes the STREAM_END.
func (in *In) End(f *frame.Frame) error {
	if in.items != nil {
		return in.items.End(f)
	}
	return in.verifier.End(f)
}

// Verify checks the next CHUNK and takes nothing from it.
func (in *In) Verify(f *frame.Frame) error {
	if in.items != nil {
		_, _, err := in.items.Chunk(f)
		return err
	}
	return in.verifier.Chunk(f)
}

// scalar returns what is in the payload of a scalar's CHUNK, one CBOR value.
func scalar(f *frame.Frame) (Piece, error) {
	if content, text, ok := plainString(f.Payload); ok {
		if text && !utf8.Valid(content) {
			return Piece{}, frame.Errorf(frame.ErrProtocol, "stream %q: a text that is not UTF-8", f.StreamID)
		}
		return Piece{Data: content, Whole: true}, nil
	}
	if err := cbor.Wellformed(f.Payload); err != nil {
		return Piece{}, frame.Errorf(frame.ErrProtocol, "stream %q: no CBOR value: %w", f.StreamID, err)
	}
	switch f.Payload[0] {
	case byteStringInPieces:
		var data []byte
		err := cbor.Unmarshal(f.Payload, &data)
		return Piece{Data: data, Whole: true}, protocol(f, err)
	case textInPieces:
		var text string
		err := cbor.Unmarshal(f.Payload, &text)
		return Piece{Data: []byte(text), Whole: true}, protocol(f, err)
	}
	return Piece{Item: flow.Item{CBOR: f.Payload, Meta: f.Meta}, Whole: true, Value: true}, nil
}

func protocol(f *frame.Frame, err error) error {
	if err == nil {
		return nil
	}
	return frame.Errorf(frame.ErrProtocol, "stream %q: %w", f.StreamID, err)
}

// First bytes of CBOR strings of indefinite length, RFC 8949 section 3.2.3.
const (
	byteStringInPieces = 0x5f
	textInPieces       = 0x7f
)

// plainString returns the content of a CBOR string of definite length that is all of b.
func plainString(b []byte) (content []byte, text, ok bool) {
	const majorBytes, majorText = 2, 3
	if len(b) == 0 || b[0]>>5 != majorBytes && b[0]>>5 != majorText {
		return nil, false, false
	}
	size := uint64(b[0] & 31)
	rest := b[1:]
	if width := size - 24; size >= 24 {
		if width > 3 || len(rest) < 1<<width {
			return nil, false, false
		}
		size = 0
		for _, digit := range rest[:1<<width] {
			size = size<<8 | uint64(digit)
		}
		rest = rest[1<<width:]
	}
	if size != uint64(len(rest)) {
		return nil, false, false
	}
	return rest, b[0]>>5 == majorText, true
}

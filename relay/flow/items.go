package flow

import (
	"errors"

	"github.com/cosim-go/cosim/relay/frame"
)

// ItemsOptions are the options of [NewItems]. The zero value has the defaults.
type ItemsOptions struct {
	// MaxBytes is how many bytes of CBOR an item may have. 0 and less is 64 MiB.
	MaxBytes int
}

// An Item is a value of a sequence.
type Item struct {
	CBOR []byte     // one well-formed CBOR item
	Meta frame.Meta // of the item's first CHUNK
}

// Items verifies the CHUNKs of a sequence and puts its items together, as [Chunker.Item] cut
// them. It is for streams without end too. It is not safe for concurrent use.
type Items struct {
	verifier  Verifier
	limit     uint64
	walker    walker
	gathered  []byte     // of the item that is not whole
	meta      frame.Meta // of that item; it borrows nothing
	continued bool
}

// NewItems returns what puts together the items of the stream that a STREAM_START begins. It
// refuses a scalar, as a fault of kind [frame.ErrProtocol].
func NewItems(start *frame.Frame, o *ItemsOptions) (*Items, error) {
	s := &Items{verifier: newVerifier(start), limit: defaultMaxCollected}
	if o != nil && o.MaxBytes > 0 {
		s.limit = uint64(o.MaxBytes)
	}
	s.walker.limit = s.limit
	if sequence, known := start.IsSequence.Get(); known && !sequence {
		return nil, s.verifier.fail("a scalar where a sequence is due")
	}
	return s, nil
}

// Chunk takes the stream's next CHUNK. It returns an item when one is whole, which may borrow
// from f: it is valid as long as f is, and until the next call of Chunk.
//
// It fails as [Verifier.Chunk] does, in the same way when the bytes are no CBOR or belong to two
// items, and with [ErrTooLong] for an item above the limit. Errors are for good, of [Items.End] too.
func (s *Items) Chunk(f *frame.Frame) (item Item, whole bool, err error) {
	if err := s.verifier.Chunk(f); err != nil {
		return Item{}, false, err
	}
	s.continued = s.walker.used > 0
	n, whole, err := s.walker.walk(f.Payload)
	switch {
	case errors.Is(err, errTooLarge):
		return Item{}, false, s.verifier.tooLong(s.limit)
	case err != nil:
		return Item{}, false, s.verifier.fail("chunk %d: %w", s.verifier.due-1, err)
	case len(f.Payload) == 0:
		return Item{}, false, s.verifier.fail("chunk %d holds nothing of an item", s.verifier.due-1)
	case n < len(f.Payload):
		return Item{}, false, s.verifier.fail("chunk %d holds parts of two items", s.verifier.due-1)
	}
	return s.gather(f, whole), whole, nil
}

// gather adds a piece to the item that is not whole, and returns the item when it is.
func (s *Items) gather(f *frame.Frame, whole bool) Item {
	if whole {
		s.walker.used = 0
	}
	switch {
	case whole && !s.continued:
		return Item{f.Payload, f.Meta}
	case !s.continued:
		s.gathered, s.meta = s.gathered[:0], f.Meta.Clone()
	}
	s.gathered = append(s.gathered, f.Payload...)
	if !whole {
		return Item{}
	}
	return Item{s.gathered, s.meta}
}

// Continued reports whether the last CHUNK went on with an item that another one began. Its
// credit is to be granted at once, with [Window.Continue]; an item's first is consumed when the
// item is.
func (s *Items) Continued() bool { return s.continued }

// End takes the stream's STREAM_END. It fails as [Verifier.End] does, and in the same way when
// the last item is not whole.
func (s *Items) End(f *frame.Frame) error {
	if err := s.verifier.End(f); err != nil {
		return err
	}
	if s.walker.used > 0 {
		return s.verifier.fail("it ends within an item, after %d bytes of it", s.walker.used)
	}
	return nil
}

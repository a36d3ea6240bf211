package flow

import (
	"fmt"

	"github.com/cosim-go/cosim/relay/frame"
)

// defaultMaxCollected is how much is collected unless options say otherwise, in bytes.
const defaultMaxCollected = 64 << 20

// CollectorOptions are the options of [NewCollector]. The zero value has the defaults.
type CollectorOptions struct {
	// MaxBytes is how many bytes of data are collected. 0 and less is 64 MiB.
	MaxBytes int

	// Raw takes payloads as they are, as [Chunker.Payload] makes them. Otherwise each is a CBOR
	// byte string or text, as [Chunker.Scalar] makes them, and what is in it counts.
	Raw bool
}

// A Collector verifies the CHUNKs of a stream and puts together what they carry. It is not safe
// for concurrent use.
type Collector struct {
	verifier Verifier
	options  CollectorOptions
	data     []byte
	length   frame.Optional[uint64] // of a raw payload, in all
	last     bool                   // the last piece of a raw payload came
}

// NewCollector returns a collector of the stream that a STREAM_START begins. It refuses a stream
// that may have no end, with [ErrUnbounded], and, as a fault of kind [frame.ErrProtocol], a
// sequence, whose items are not to be joined: see [NewItems].
func NewCollector(start *frame.Frame, o *CollectorOptions) (*Collector, error) {
	if o == nil {
		o = &CollectorOptions{}
	}
	c := &Collector{verifier: newVerifier(start), options: *o}
	if c.options.MaxBytes <= 0 {
		c.options.MaxBytes = defaultMaxCollected
	}
	switch {
	case c.verifier.unbounded:
		return nil, fmt.Errorf("stream %q: %w", c.verifier.streamID, ErrUnbounded)
	case start.IsSequence.Or(false):
		return nil, c.verifier.fail("a sequence where a scalar is due")
	}
	return c, nil
}

// Chunk takes the stream's next CHUNK, of which it keeps nothing. It fails as [Verifier.Chunk]
// does, in the same way when a payload is not what it has to be, and with [ErrTooLong] when there
// would be too much. Errors are for good, of [Collector.End] too.
func (c *Collector) Chunk(f *frame.Frame) error {
	if err := c.verifier.Chunk(f); err != nil {
		return err
	}
	if c.options.Raw {
		return c.raw(f)
	}
	content, err := stringIn(f.Payload)
	if err != nil {
		return c.verifier.fail("chunk %d: %w", c.verifier.due-1, err)
	}
	return c.add(content)
}

// raw takes a piece of a payload, which may say where it belongs.
func (c *Collector) raw(f *frame.Frame) error {
	here := uint64(len(c.data))
	if offset := f.Offset.Or(here); offset != here {
		return c.verifier.fail("chunk %d belongs at offset %d and came at %d", c.verifier.due-1, offset, here)
	}
	if c.last {
		return c.verifier.fail("chunk %d comes after the last piece of the payload", c.verifier.due-1)
	}
	if f.Len.IsSet() {
		c.length = f.Len
	}
	c.last = f.EOF.Or(false)
	return c.add(f.Payload)
}

func (c *Collector) add(data []byte) error {
	if len(data) > c.options.MaxBytes-len(c.data) {
		return c.verifier.tooLong(uint64(c.options.MaxBytes))
	}
	c.data = append(c.data, data...)
	return nil
}

// End takes the stream's STREAM_END and returns all of the data, which is the caller's. It fails
// as [Verifier.End] does, and in the same way when a payload is not as long as it said.
func (c *Collector) End(f *frame.Frame) ([]byte, error) {
	if err := c.verifier.End(f); err != nil {
		return nil, err
	}
	if length := c.length.Or(uint64(len(c.data))); length != uint64(len(c.data)) {
		return nil, c.verifier.fail("%d bytes came, %d were announced", len(c.data), length)
	}
	return c.data, nil
}

// Package cborframe is the frame as one would write it with fxamacker/cbor: a struct with a tag for each key.
// It is a peer of the relay's codec, and it makes the bytes that all contenders carry.
package cborframe

import (
	"bytes"

	"github.com/fxamacker/cbor/v2"
)

// A Frame has the fields of every frame type; those that a frame may lack are pointers, or empty.
type Frame struct {
	Version     uint64         `cbor:"0,keyasint"`
	Type        uint64         `cbor:"1,keyasint"`
	ID          []byte         `cbor:"2,keyasint"`
	Seq         uint64         `cbor:"3,keyasint"`
	ContentType string         `cbor:"4,keyasint,omitempty"`
	Meta        map[string]any `cbor:"5,keyasint,omitempty"`
	Payload     []byte         `cbor:"6,keyasint,omitempty"`
	Len         *uint64        `cbor:"7,keyasint,omitempty"`
	Offset      *uint64        `cbor:"8,keyasint,omitempty"`
	EOF         *bool          `cbor:"9,keyasint,omitempty"`
	Cap         string         `cbor:"10,keyasint,omitempty"`
	StreamID    string         `cbor:"11,keyasint,omitempty"`
	MediaURN    string         `cbor:"12,keyasint,omitempty"`
	RoutingID   *uint64        `cbor:"13,keyasint,omitempty"`
	ChunkIndex  *uint64        `cbor:"14,keyasint,omitempty"`
	ChunkCount  *uint64        `cbor:"15,keyasint,omitempty"`
	Checksum    *uint64        `cbor:"16,keyasint,omitempty"`
	IsSequence  *bool          `cbor:"17,keyasint,omitempty"`
	ForceKill   *bool          `cbor:"18,keyasint,omitempty"`
	Credit      *uint64        `cbor:"19,keyasint,omitempty"`
	Unbounded   *bool          `cbor:"20,keyasint,omitempty"`
}

// A Codec encodes and decodes frames with the library's fastest settings that keep the protocol's rules: no
// sorting beyond the order of the struct's fields, no duplicate keys looked for. It is safe for concurrent use.
type Codec struct {
	encode cbor.UserBufferEncMode
	decode cbor.DecMode
}

// NewCodec returns a codec.
func NewCodec() (Codec, error) {
	encode, err := cbor.EncOptions{}.UserBufferEncMode()
	if err != nil {
		return Codec{}, err
	}
	decode, err := cbor.DecOptions{}.DecMode()
	return Codec{encode, decode}, err
}

// Marshal returns the body of a frame in a slice of its own.
func (c Codec) Marshal(f *Frame) ([]byte, error) { return c.encode.Marshal(f) }

// MarshalTo appends the body of a frame to a buffer.
func (c Codec) MarshalTo(f *Frame, buffer *bytes.Buffer) error {
	return c.encode.MarshalToBuffer(f, buffer)
}

// Unmarshal reads a body into a frame. Fields that the body does not have stay as they are.
func (c Codec) Unmarshal(body []byte, f *Frame) error { return c.decode.Unmarshal(body, f) }

// Body returns the body of a frame: keys ascending, shortest forms.
func Body(f *Frame) []byte {
	mode, err := cbor.EncOptions{Sort: cbor.SortBytewiseLexical, ShortestFloat: cbor.ShortestFloat16}.EncMode()
	if err != nil {
		panic("cborframe: " + err.Error())
	}
	body, err := mode.Marshal(f)
	if err != nil {
		panic("cborframe: " + err.Error())
	}
	return body
}

package cborframe

import "bytes"

// Marshal encodes a frame n times, each into a slice of its own.
func Marshal(c Codec, f *Frame) func(n int) error {
	return func(n int) (err error) {
		for range n {
			if Made, err = c.encode.Marshal(f); err != nil {
				return err
			}
		}
		return nil
	}
}

// Made keeps what was encoded last on the heap, where a program that sends it has it.
var Made []byte

// MarshalReused encodes a frame n times into one buffer.
func MarshalReused(c Codec, f *Frame) func(n int) error {
	var buffer bytes.Buffer
	return func(n int) error {
		for range n {
			buffer.Reset()
			if err := c.encode.MarshalToBuffer(f, &buffer); err != nil {
				return err
			}
		}
		return nil
	}
}

// Unmarshal decodes a body n times, each into a frame of its own.
func Unmarshal(c Codec, body []byte) func(n int) error {
	return func(n int) error {
		for range n {
			var f Frame
			if err := c.decode.Unmarshal(body, &f); err != nil {
				return err
			}
		}
		return nil
	}
}

// UnmarshalReused decodes a body n times into one frame that is never cleared. It allocates least, but does
// not tell a field that is absent from one that was there before: no program could use it so.
func UnmarshalReused(c Codec, body []byte) func(n int) error {
	var f Frame
	return func(n int) error {
		for range n {
			if err := c.decode.Unmarshal(body, &f); err != nil {
				return err
			}
		}
		return nil
	}
}

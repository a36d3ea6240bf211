package carry

import (
	"bufio"
	"encoding/binary"
	"io"

	"github.com/cosim-go/cosim/relay/bench/internal/pair"
)

// A Framer writes and reads bodies behind their length, through a buffer on each side. It knows nothing of
// frames; a stream without a notion of messages carries them so.
type Framer struct {
	w      *bufio.Writer
	r      *bufio.Reader
	length [2][4]byte // of the body written, and of the one read
	body   []byte
}

// NewFramer returns a framer that writes to w and reads from r.
func NewFramer(w io.Writer, r io.Reader) *Framer {
	return &Framer{w: bufio.NewWriterSize(w, pair.Buffer), r: bufio.NewReaderSize(r, pair.Buffer)}
}

// Write appends a body to what the next Flush sends, or an earlier one when the buffer is full.
func (f *Framer) Write(body []byte) error {
	length := f.length[0][:]
	binary.BigEndian.PutUint32(length, uint32(len(body)))
	if _, err := f.w.Write(length); err != nil {
		return err
	}
	_, err := f.w.Write(body)
	return err
}

// Flush sends what is in the buffer.
func (f *Framer) Flush() error { return f.w.Flush() }

// Read returns the next body, which is valid until the next call.
func (f *Framer) Read() ([]byte, error) {
	length := f.length[1][:]
	if _, err := io.ReadFull(f.r, length); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(length))
	if n > cap(f.body) {
		f.body = make([]byte, n)
	}
	f.body = f.body[:n]
	_, err := io.ReadFull(f.r, f.body)
	return f.body, err
}

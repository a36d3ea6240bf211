//go:build !framepoison

package frame_test

import (
	"bytes"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestReaderBuffered(t *testing.T) {
	whole := wire(heartbeat(t))
	r := frame.NewReader(&pieces{parts: [][]byte{append(bytes.Repeat(whole, 2), whole[:6]...), whole[6:]}}, nil)
	if r.Buffered() {
		t.Error("Buffered before anything was read")
	}
	for i, want := range []bool{true, false, false} {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if r.Buffered() != want {
			t.Errorf("Buffered after frame %d = %v, want %v", i, !want, want)
		}
	}
	r.Next()
	if !r.Buffered() {
		t.Error("Buffered at the end = false, but Next does not read")
	}
	over := append(append([]byte{}, whole...), 0xff, 0xff, 0xff, 0xff)
	r = frame.NewReader(bytes.NewReader(over), nil)
	r.Next()
	if !r.Buffered() {
		t.Error("Buffered with a length above the limit = false, but Next does not read")
	}
}

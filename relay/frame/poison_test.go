//go:build framepoison

package frame_test

import (
	"bytes"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

func TestPoisonFindsThoseWhoKeepBorrowedBytes(t *testing.T) {
	var stream []byte
	for n := range 8 {
		id := bytes.Repeat([]byte{'a' + byte(n)}, 20)
		f := frame.NewChunk(sampleID, id, 0, id, 0)
		stream = append(stream, wire(encoded(t, &f))...)
	}
	for name, keep := range map[string]func(*frame.Reader) []byte{
		"payload":   func(r *frame.Reader) []byte { f, _ := r.Next(); return f.Payload },
		"stream id": func(r *frame.Reader) []byte { f, _ := r.Next(); return f.StreamID },
		"wire":      func(r *frame.Reader) []byte { r.NextHead(); return r.Wire() },
	} {
		r := frame.NewReader(bytes.NewReader(stream), nil)
		found := 0
		for range 4 {
			kept := keep(r)
			before := bytes.Clone(kept)
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(kept, before) {
				found++
			}
		}
		if found < 2 { // others come together with the next
			t.Errorf("whoever keeps the %s after Next is found out %d times of 4", name, found)
		}
	}
}

func TestPoisonInAGrownBuffer(t *testing.T) {
	small, large := chunk(10), chunk(200<<10)
	r := frame.NewReader(bytes.NewReader(append(wire(encoded(t, &small)), wire(encoded(t, &large))...)), nil)
	f, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	kept := f.Payload
	if f, err = r.Next(); err != nil || !bytes.Equal(f.Payload, large.Payload) {
		t.Fatalf("Next = %v", err)
	}
	if bytes.Equal(kept, small.Payload) {
		t.Error("whoever keeps a payload while the buffer grows is not found out")
	}
}

func TestPoisonInAWriter(t *testing.T) {
	out := &sink{}
	w := frame.NewWriter(out, nil)
	write(t, w, chunk(100))
	flush(t, w)
	if kept := out.writes[0]; bytes.Equal(kept, out.got) {
		t.Error("a stream that keeps what it is given is not found out")
	}
}

func TestPoisonInABuilder(t *testing.T) {
	var b frame.MetaBuilder
	b.Text("level", "info")
	kept := built(t, &b).Raw()
	before := bytes.Clone(kept)
	b.Reset()
	if bytes.Equal(kept, before) {
		t.Error("whoever keeps a meta after Reset is not found out")
	}
}

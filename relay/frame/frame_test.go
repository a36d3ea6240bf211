package frame_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

// Requirement: R2
func TestRoundTripOfEveryType(t *testing.T) {
	seen := map[frame.Type]bool{}
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			seen[s.frame.Type] = true
			body := encoded(t, &s.frame)
			got := decoded(t, body)
			if !reflect.DeepEqual(*got, s.frame) {
				t.Errorf("Decode(Append(f)) = %+v, want %+v", *got, s.frame)
			}
			if again := encoded(t, got); !bytes.Equal(again, body) {
				t.Errorf("Append(Decode(body)) = %x, want %x", clip(again), clip(body))
			}
			head, err := frame.Check(body)
			if err != nil || head != s.frame.Head() {
				t.Errorf("Check = %+v, %v, want %+v", head, err, s.frame.Head())
			}
		})
	}
	for n := range 256 {
		if typ := frame.Type(n); typ.Valid() && !seen[typ] {
			t.Errorf("no sample of a %v frame", typ)
		}
	}
}

func TestCutAtEveryByte(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			whole := wire(encoded(t, &s.frame))
			for n := range whole {
				if n > 300 && n < len(whole)-100 && n%509 != 0 {
					continue // within a payload one byte is as good as another
				}
				checkCut(t, whole, n)
			}
		})
	}
}

// checkCut expects a frame cut after n bytes to be none.
func checkCut(t *testing.T, whole []byte, n int) {
	t.Helper()
	_, err := frame.NewReader(bytes.NewReader(whole[:n]), nil).Next()
	switch {
	case n == 0 && err != io.EOF:
		t.Errorf("Next of an empty stream = %v, want io.EOF", err)
	case n > 0 && (!errors.Is(err, frame.ErrUnexpectedEOF) || !errors.Is(err, io.ErrUnexpectedEOF)):
		t.Errorf("Next of %d bytes of %d = %v, want unexpected_eof", n, len(whole), err)
	}
	if n < 4 {
		return
	}
	var f frame.Frame
	if err := frame.Decode(whole[4:n], &f); !errors.Is(err, frame.ErrDecode) {
		t.Errorf("Decode of %d bytes of %d = %v, want decode", n-4, len(whole)-4, err)
	}
	if _, err := frame.Check(whole[4:n]); !errors.Is(err, frame.ErrDecode) {
		t.Errorf("Check of %d bytes of %d = %v, want decode", n-4, len(whole)-4, err)
	}
}

func TestCloneBorrowsNothing(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			body := encoded(t, &s.frame)
			clone := decoded(t, body).Clone()
			clear(body)
			if !reflect.DeepEqual(*clone, s.frame) {
				t.Errorf("a clone after its body changed = %+v, want %+v", *clone, s.frame)
			}
		})
	}
}

func TestCloneKeepsEmptyApartFromAbsent(t *testing.T) {
	f := frame.Frame{Type: frame.TypeReq, ID: sampleID, Payload: []byte{}, StreamID: []byte{}}
	c := f.Clone()
	if c.Payload == nil || c.StreamID == nil {
		t.Error("Clone made empty fields absent")
	}
	if c.Cap != nil || c.ContentType != nil || c.MediaURN != nil || c.Meta.IsSet() {
		t.Error("Clone made absent fields empty")
	}
}

func TestDecodeForgetsTheFrameBefore(t *testing.T) {
	full := fullChunk(t)
	f := *decoded(t, encoded(t, &full))
	end := frame.NewBodyEnd(sampleXID)
	if err := frame.Decode(encoded(t, &end), &f); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(f, end) {
		t.Errorf("Decode into a used frame = %+v, want %+v", f, end)
	}
}

func TestOptional(t *testing.T) {
	var none frame.Optional[uint64]
	if _, ok := none.Get(); ok || none.IsSet() || none.Or(7) != 7 {
		t.Error("the zero Optional is there")
	}
	zero := frame.Some[uint64](0)
	if n, ok := zero.Get(); !ok || n != 0 || !zero.IsSet() || zero.Or(7) != 0 {
		t.Error("a 0 that is there counts as absent")
	}
}

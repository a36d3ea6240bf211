package frame_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
)

var allKinds = []frame.Kind{
	frame.ErrIO, frame.ErrEncode, frame.ErrDecode, frame.ErrInvalidFrame,
	frame.ErrFrameTooLarge, frame.ErrUnexpectedEOF, frame.ErrProtocol, frame.ErrHandshake,
}

func TestKindsAreTellableApart(t *testing.T) {
	for _, kind := range allKinds {
		err := fmt.Errorf("reading: %w", frame.Errorf(kind, "because of %w", io.ErrClosedPipe))
		for _, other := range allKinds {
			if errors.Is(err, other) != (other == kind) {
				t.Errorf("errors.Is(%s, %s) = %v", kind, other, other != kind)
			}
		}
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("an error of kind %s hides its cause", kind)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) != (kind == frame.ErrUnexpectedEOF) {
			t.Errorf("errors.Is(%s, io.ErrUnexpectedEOF) is wrong", kind)
		}
		if frame.KindOf(err) != kind {
			t.Errorf("KindOf = %s, want %s", frame.KindOf(err), kind)
		}
		if kind.Error() != string(kind) || err.Error() != "reading: because of "+io.ErrClosedPipe.Error() {
			t.Errorf("texts are %q and %q", kind.Error(), err)
		}
	}
	if got := frame.KindOf(io.EOF); got != "" {
		t.Errorf("KindOf(io.EOF) = %s, want none", got)
	}
	if got := frame.KindOf(nil); got != "" {
		t.Errorf("KindOf(nil) = %s, want none", got)
	}
}

func TestErrorOfABodyHasItsOffset(t *testing.T) {
	var f frame.Frame
	var e *frame.Error
	if err := frame.Decode(heartbeat(t, "04 61 ff"), &f); !errors.As(err, &e) || e.Offset != 9 {
		t.Errorf("Decode = %v, want offset 9", err)
	}
}

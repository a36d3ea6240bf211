package host

import (
	"errors"
	"fmt"
	"io"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// A StartError is why a cartridge cannot be used. It is the error of [Host.Attach] and [Inspect].
type StartError struct {
	Kind manifest.AttachmentKind
	Err  error
}

// Error says what went wrong.
func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *StartError) Unwrap() error { return e.Err }

// A greeting is what a cartridge says of itself when it is greeted.
type greeting struct {
	limits   frame.Limits // that count from now on
	manifest *manifest.Cartridge
	pools    manifest.Pools
	table    []*caps.Cap
}

// greet exchanges HELLO frames with a cartridge, and reads its manifest.
func greet(in *frame.Reader, out *frame.Writer, ours frame.Limits) (*greeting, *StartError) {
	hello, err := exchangeHello(in, out, ours)
	if err != nil {
		return nil, &StartError{manifest.HandshakeFailed, err}
	}
	m, err := manifest.ParseCartridge(hello.Manifest)
	if err != nil {
		kind := manifest.ManifestInvalid
		if fault := (*manifest.Fault)(nil); errors.As(err, &fault) {
			kind = fault.Kind
		}
		return nil, &StartError{kind, fmt.Errorf("its manifest: %w", err)}
	}
	g := &greeting{limits: ours.Min(hello.Limits), manifest: m, table: m.Caps()}
	if g.pools, err = manifest.PoolsOf(hello.Pools, hello.HandlerCapacity, g.table); err != nil {
		return nil, &StartError{manifest.HandshakeFailed, fmt.Errorf("the pools in its HELLO: %w", err)}
	}
	in.SetMaxFrame(g.limits.FrameLimit())
	out.SetMaxFrame(g.limits.FrameLimit())
	return g, nil
}

// exchangeHello writes a HELLO and reads the cartridge's, whose byte strings are borrowed from in.
func exchangeHello(in *frame.Reader, out *frame.Writer, ours frame.Limits) (frame.Hello, error) {
	f, err := frame.NewHello(frame.Hello{Limits: ours, HandlerCapacity: frame.Some[uint64](0)})
	if err != nil {
		return frame.Hello{}, err
	}
	if err := writeAll(out, &f); err != nil {
		return frame.Hello{}, fmt.Errorf("writing HELLO to it: %w", err)
	}
	answer, err := in.Next()
	if err != nil {
		return frame.Hello{}, fmt.Errorf("reading its HELLO: %w", unexpected(err))
	}
	hello, err := answer.Hello()
	if err == nil && hello.Manifest == nil {
		err = frame.Errorf(frame.ErrHandshake, "its HELLO has no manifest")
	}
	return hello, err
}

// writeAll writes frames at once.
func writeAll(out *frame.Writer, frames ...*frame.Frame) error {
	for _, f := range frames {
		if err := out.Write(f); err != nil {
			return err
		}
	}
	return out.Flush()
}

// unexpected returns what a reader's error is where the stream must not end.
func unexpected(err error) error {
	if err == io.EOF {
		return frame.Errorf(frame.ErrHandshake, "%w", errOutputEnded)
	}
	return err
}

// errOutputEnded says that a cartridge ended its output, as one does that ends.
var errOutputEnded = errors.New("its output ended")

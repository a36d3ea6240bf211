package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// envCartridge makes a process of this test's program a cartridge: its arguments are those of
// capdag_cartridge.py, and it serves the same caps. "names" describes them as the newest
// release wants it, with names that the older one refuses.
const envCartridge = "COSIM_INTEROP_CARTRIDGE"

func TestMain(m *testing.M) {
	if kind := os.Getenv(envCartridge); kind != "" {
		serveCartridge(os.Args[1], os.Args[2:], kind == "names")
	}
	os.Exit(m.Run())
}

// serveCartridge does not return.
func serveCartridge(name string, ops []string, names bool) {
	says, err := os.OpenFile(os.Getenv(envSays), os.O_WRONLY|syscall.O_NONBLOCK, 0) // fails when nobody reads
	if err != nil {
		panic(err)
	}
	c := cartridge.New(name, "1.0.0", &cartridge.Options{Description: "a cartridge of the interoperability tests"})
	handlers := map[string]cartridge.Handler{
		"invert": invert, "fail": fail, "die": die, "forward": forward("invert"), "orphan": forward("nobody"), "wait": wait(says),
	}
	if names {
		c.HandleCap(described(identity, "identity", "media:"), nil)
	}
	for _, op := range ops {
		of := described(capURN(op), op, media)
		if !names {
			of.Extra = nil
		}
		c.HandleCap(of, handlers[op])
	}
	os.Args = os.Args[:1]
	c.Main()
}

// described is a cap and what it says of its input and output.
func described(urn, title, media string) manifest.Cap {
	c, err := manifest.NewCap(urn, title)
	if err != nil {
		panic(err)
	}
	c.Extra = map[string]json.RawMessage{
		"args":    json.RawMessage(`[{"media_urn": "` + media + `", "name": "input", "required": true, "sources": [{"stdin": "` + media + `"}]}]`),
		"outputs": json.RawMessage(`[{"media_urn": "` + media + `", "name": "output", "output_description": "what comes out"}]`),
	}
	return c
}

// inverter turns over the bits of what goes through.
type inverter struct{ w io.Writer }

func (i inverter) Write(p []byte) (int, error) {
	turned := make([]byte, len(p))
	for n, b := range p {
		turned[n] = ^b
	}
	return i.w.Write(turned)
}

func invert(_ context.Context, r *cartridge.Request) error {
	in, err := r.Next()
	if err != nil {
		return err
	}
	_, err = in.WriteTo(inverter{r.Output(media, nil)})
	return err
}

func fail(context.Context, *cartridge.Request) error {
	return &cartridge.Error{Code: "INTEROP_REFUSED", Attribution: frame.AttributionInput, Message: "refused as it was asked to"}
}

func die(context.Context, *cartridge.Request) error {
	os.Exit(3)
	return nil
}

// forward calls another cap with its input.
func forward(op string) cartridge.Handler {
	return func(ctx context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return err
		}
		var body bytes.Buffer
		if _, err := in.WriteTo(&body); err != nil {
			return err
		}
		answer, err := call.Do(ctx, r, capURN(op), call.Bytes(media, body.Bytes()))
		if err != nil {
			return err
		}
		_, err = r.Output(media, nil).Write(answer)
		return err
	}
}

func wait(says io.Writer) cartridge.Handler {
	return func(ctx context.Context, r *cartridge.Request) error {
		r.Log("info", frame.AttributionInternal, "waiting")
		<-ctx.Done()
		if _, err := fmt.Fprintln(says, "wait ended"); err != nil {
			return err
		}
		return context.Cause(ctx)
	}
}

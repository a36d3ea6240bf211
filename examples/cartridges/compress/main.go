// Command compress is a cartridge that compresses and restores streams with gzip, a piece at a time: neither
// stream is ever in memory as a whole.
package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"

	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
)

func main() {
	c := cartridge.New("compress", "1.0.0", &cartridge.Options{Description: "gzip, both ways"})
	c.Handle(`cap:compress;out="media:ext=gz"`, "Compress a stream", compress)
	c.Handle(`cap:decompress;in="media:ext=gz"`, "Restore a compressed stream", decompress)
	c.Main()
}

func compress(_ context.Context, r *cartridge.Request) error {
	in, err := r.Next()
	if err != nil {
		return fmt.Errorf("waiting for the bytes to compress: %w", err)
	}
	out := gzip.NewWriter(r.Output("media:ext=gz", nil))
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

func decompress(_ context.Context, r *cartridge.Request) error {
	in, err := r.Next()
	if err != nil {
		return fmt.Errorf("waiting for the compressed bytes: %w", err)
	}
	plain, err := gzip.NewReader(in)
	if err != nil {
		return badInput(in, err)
	}
	if _, err := io.Copy(r.Output("media:", nil), plain); err != nil {
		return badInput(in, err)
	}
	return nil
}

// BadInput blames the argument for what gzip says of it, so that nobody tries the same again.
func badInput(in *cartridge.Input, err error) error {
	if !isGzip(err) {
		return err
	}
	return &cartridge.Error{
		Code:        "BAD_GZIP",
		Attribution: frame.AttributionInput,
		Message:     err.Error(),
		ArgURN:      in.Media(),
	}
}

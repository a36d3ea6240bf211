// Command words is a cartridge that counts what is in a compressed text. It leaves the restoring to whoever serves
// that: a request within the request, whose answer it counts while it arrives.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
)

func main() {
	c := cartridge.New("words", "1.0.0", &cartridge.Options{Description: "Lines, words and bytes of compressed texts"})
	c.Handle(`cap:count-words;in="media:ext=gz";out="media:enc=utf-8"`, "Count lines, words and bytes", words)
	c.Main()
}

func words(ctx context.Context, r *cartridge.Request) error {
	in, err := r.Next()
	if err != nil {
		return fmt.Errorf("waiting for the text: %w", err)
	}
	var n counter
	if err := restore(ctx, r, in, &n); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.Output("media:enc=utf-8", nil), "%d lines, %d words, %d bytes\n", n.lines, n.words, n.bytes)
	return err
}

// Restore has a compressed stream restored by another cartridge and writes the answer to out.
func restore(ctx context.Context, r *cartridge.Request, in *cartridge.Input, out io.Writer) error {
	peer, err := call.Start(ctx, r, call.Request{Cap: `cap:decompress;in="media:ext=gz"`}, call.Arg{Media: in.Media(), Body: in})
	if err != nil {
		return err
	}
	defer peer.Close()
	for {
		switch e, err := peer.Next(ctx); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case e.Kind == call.EventData:
			if _, err := out.Write(e.Data); err != nil {
				return err
			}
		}
	}
}

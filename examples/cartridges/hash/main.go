// Command hash is a cartridge that hashes a stream, however long it is.
package main

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"io"

	"github.com/cosim-go/cosim/relay/cartridge"
)

func main() {
	c := cartridge.New("hash", "1.0.0", &cartridge.Options{Description: "Digests of streams, in hexadecimal"})
	c.Handle(`cap:hash=sha256;out="media:enc=utf-8"`, "SHA-256 of a stream", digest(sha256.New))
	c.Handle(`cap:hash=sha512;out="media:enc=utf-8"`, "SHA-512 of a stream", digest(sha512.New))
	c.Main()
}

// Digest returns a handler that takes one argument of bytes and answers with its digest.
func digest(newHash func() hash.Hash) cartridge.Handler {
	return func(_ context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return fmt.Errorf("waiting for the bytes to hash: %w", err)
		}
		sum := newHash()
		n, err := io.Copy(sum, in)
		if err != nil {
			return err
		}
		r.Progress(1, fmt.Sprintf("%d bytes hashed", n))
		_, err = fmt.Fprintf(r.Output("media:enc=utf-8", nil), "%x\n", sum.Sum(nil))
		return err
	}
}

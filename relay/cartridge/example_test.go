package cartridge_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/cosim-go/cosim/relay/cartridge"
)

// A whole cartridge. A program of its own ends with c.Main(); here a host in this program asks it.
func Example() {
	c := cartridge.New("digest", "1.0.0", nil)
	c.Handle(`cap:digest;out="media:enc=utf-8"`, "SHA-256 of a stream", digest)

	ask(c, "cap:digest", "hello")
	// Output: 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
}

// A cartridge as a program of its own: a host starts it, without arguments, and it serves until its input ends.
func ExampleCartridge_Main() {
	c := cartridge.New("digest", "1.0.0", nil)
	c.Handle(`cap:digest;out="media:enc=utf-8"`, "SHA-256 of a stream", digest)
	c.Main()
}

// digest reads its first argument, however long it is, and answers with a line.
func digest(_ context.Context, r *cartridge.Request) error {
	in, err := r.Next()
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.Output("media:enc=utf-8", nil), "%x\n", sum.Sum(nil))
	return err
}

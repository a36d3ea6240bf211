package pool_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/cosim-go/cosim/runtime/pool"
	"github.com/cosim-go/cosim/topology/layout"
)

func Example() {
	dir, err := os.MkdirTemp("", "pool")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	p, err := pool.New(filepath.Join(dir, "m0.pool"), 64*layout.MiB)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	vram, err := p.Region(layout.Addr(32*layout.MiB), 32*layout.MiB)
	if err != nil {
		fmt.Println(err)
		return
	}
	vram.WriteAt([]byte("hello"), 0)

	b := make([]byte, 5)
	p.ReadAt(b, int64(32*layout.MiB))
	fmt.Printf("%s\n", b)
	// Output: hello
}

package main

import (
	"fmt"
	"io"

	"github.com/cosim-go/cosim/examples/pci-dma/check/disk"
	"github.com/cosim-go/cosim/runtime/pool"
)

// flip inverts one byte in the middle of the moved block.
func flip(runDir, imagePath string, out io.Writer) error {
	image, err := disk.Open(imagePath)
	if err != nil {
		return err
	}
	path, ram, err := guestRAM(runDir)
	if err != nil {
		return err
	}
	offset, err := poolOffset(ram, image.Header.Destination+image.Header.BlockSize/2, 1)
	if err != nil {
		return err
	}
	p, err := pool.Open(path, &pool.Options{Write: true})
	if err != nil {
		return err
	}
	defer p.Close()
	var b [1]byte
	if _, err := p.ReadAt(b[:], offset); err != nil {
		return err
	}
	if _, err := p.WriteAt([]byte{^b[0]}, offset); err != nil {
		return err
	}
	fmt.Fprintf(out, "flipped byte %#x of %s\n", offset, path)
	return p.Close()
}

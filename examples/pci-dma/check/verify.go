package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/cosim-go/cosim/examples/pci-dma/check/disk"
	"github.com/cosim-go/cosim/runtime/pool"
)

// verify prints one line for each thing that has to be true after a run, and returns
// an error where one is not.
func verify(runDir, imagePath string, out io.Writer) error {
	image, err := disk.Open(imagePath)
	if err != nil {
		return err
	}
	moved, err := readMoved(runDir, image.Header)
	if err != nil {
		return err
	}
	failed := false
	for _, c := range compare(image, moved) {
		word := "PASS"
		if !c.ok {
			word, failed = "FAIL", true
		}
		fmt.Fprintln(out, word, c.text)
	}
	if failed {
		return errors.New("the run did not leave what it should")
	}
	return nil
}

// A finding is one line of the report.
type finding struct {
	ok   bool
	text string
}

// compare judges a run by the block that was prepared: moved is what lies in the pool
// at the DMA's destination.
func compare(image *disk.Image, moved []byte) []finding {
	announced := sha512.Sum512(image.Block)
	sum := sha256.Sum256(image.Block)
	digest := hex.EncodeToString(sum[:])
	answer := image.Answer
	if answer != digest {
		answer = fmt.Sprintf("%q instead of %q", answer, digest)
	}
	return []finding{
		{hex.EncodeToString(announced[:]) == image.Header.SHA512, "disk: the block that its header announces"},
		{bytes.Equal(moved, image.Block), fmt.Sprintf("pool: the block at the DMA's destination, %#x", image.Header.Destination)},
		{bytes.Equal(image.Copy, image.Block), "copy: the block as the guest wrote it back to the disk"},
		{image.Answer == digest, "answer: the guest's digest of what was moved, " + answer},
	}
}

// readMoved reads the DMA's destination in the pool that a session kept.
func readMoved(runDir string, h disk.Header) ([]byte, error) {
	path, ram, err := guestRAM(runDir)
	if err != nil {
		return nil, err
	}
	offset, err := poolOffset(ram, h.Destination, h.BlockSize)
	if err != nil {
		return nil, err
	}
	p, err := pool.Open(path, nil)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	moved := make([]byte, h.BlockSize)
	if _, err := p.ReadAt(moved, offset); err != nil {
		return nil, fmt.Errorf("reading the pool: %w", err)
	}
	return moved, nil
}

package disk

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

// An Image is what a disk image holds. It is read once and keeps no file open.
type Image struct {
	Header Header
	Block  []byte // what Create put there
	Copy   []byte // what the guest wrote: the block, as the DMA moved it
	Answer string // what the guest wrote: the SHA-256 of Copy in hexadecimal; empty before
}

// Open reads an image.
func Open(path string) (*Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	image, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("reading image %q: %w", path, err)
	}
	return image, nil
}

func read(r io.ReaderAt) (*Image, error) {
	page := make([]byte, PageSize)
	if _, err := r.ReadAt(page, 0); err != nil {
		return nil, err
	}
	h, err := decodeHeader(page)
	if err != nil {
		return nil, err
	}
	image := &Image{Header: h, Block: make([]byte, h.BlockSize), Copy: make([]byte, h.BlockSize)}
	if _, err := r.ReadAt(image.Block, h.BlockOffset); err != nil {
		return nil, fmt.Errorf("block: %w", err)
	}
	if _, err := r.ReadAt(image.Copy, h.CopyOffset); err != nil {
		return nil, fmt.Errorf("copy: %w", err)
	}
	if _, err := r.ReadAt(page, h.AnswerOffset); err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	image.Answer = answer(page)
	return image, nil
}

// answer takes the digest from the page of the answer, a line "sha256=DIGEST".
func answer(page []byte) string {
	line, _, _ := bytes.Cut(page, []byte("\n"))
	digest, ok := strings.CutPrefix(string(line), "sha256=")
	if !ok {
		return ""
	}
	return digest
}

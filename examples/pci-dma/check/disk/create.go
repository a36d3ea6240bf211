package disk

import (
	"crypto/rand"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// The image: the header, the answer, the block, the copy.
const (
	blockSize    = 1 << 20
	answerOffset = PageSize
	blockOffset  = 1 << 20
	copyOffset   = 2 << 20
	imageSize    = 8 << 20
)

// The guest's RAM that its kernel leaves alone, by "memmap=16M$96M" on the command
// line in topology.yaml: a half for the source and one for the destination, and the
// last page for the controller's program.
const (
	scratch     = 96 << 20
	scratchSize = 16 << 20
	scriptAddr  = scratch + scratchSize - PageSize
)

// Options change what an image asks of the guest. The zero value is the demo.
type Options struct {
	ExpectOther bool  // announce the digest of another block than the one on the disk
	Panic       bool  // let the guest panic before its verdict
	Rounds      int64 // how often the guest has the block moved; 0 means once
}

// Create writes an image with a new random block, to be moved between addresses
// chosen at random. It writes beside path and renames, so that path is whole at any time.
func Create(path string, o Options) (Header, error) {
	block := make([]byte, blockSize)
	rand.Read(block) // never fails
	h := newHeader(block, o)
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return Header{}, fmt.Errorf("making the image: %w", err)
	}
	defer os.Remove(f.Name()) // in vain after the rename
	if err := write(f, h, block); err != nil {
		return Header{}, fmt.Errorf("writing the image: %w", err)
	}
	return h, os.Rename(f.Name(), path)
}

func newHeader(block []byte, o Options) Header {
	digest := sha512.Sum512(block)
	h := Header{
		BlockOffset: blockOffset, BlockSize: blockSize,
		CopyOffset: copyOffset, AnswerOffset: answerOffset,
		Source: scratch + randomPage(), Destination: scratch + scratchSize/2 + randomPage(), Script: scriptAddr,
		Rounds: max(o.Rounds, 1), SHA512: hex.EncodeToString(digest[:]), End: Verdict,
	}
	if o.ExpectOther {
		rand.Read(digest[:])
		h.SHA512 = hex.EncodeToString(digest[:])
	}
	if o.Panic {
		h.End = Panic
	}
	return h
}

// randomPage is the offset of a page from which a block fits into a half of the
// scratch memory without the script's page.
func randomPage() int64 {
	const pages = (scratchSize/2 - blockSize - PageSize) / PageSize
	var b [8]byte
	rand.Read(b[:])
	return int64(binary.LittleEndian.Uint64(b[:])%(pages+1)) * PageSize
}

// write fills the image and closes it.
func write(f *os.File, h Header, block []byte) (err error) {
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	if err := f.Truncate(imageSize); err != nil {
		return err
	}
	if _, err := f.WriteAt(h.encode(), 0); err != nil {
		return err
	}
	_, err = f.WriteAt(block, h.BlockOffset)
	return err
}

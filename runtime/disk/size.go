package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/topology/layout"
)

// VirtualSize is the size in bytes of the disk that an image holds. An image that is
// not of the format is an error.
func VirtualSize(path, format string) (layout.Size, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if format != "qcow2" {
		end, err := f.Seek(0, io.SeekEnd) // serves block devices too
		return layout.Size(end), err
	}
	// QEMU's docs/interop/qcow2.txt: bytes 0-3 are "QFI\xfb", bytes 24-31 the virtual
	// size, big-endian.
	header := make([]byte, 32)
	if _, err := io.ReadFull(f, header); err != nil || string(header[:4]) != "QFI\xfb" {
		return 0, fmt.Errorf("%s is not a qcow2 image", path)
	}
	return layout.Size(binary.BigEndian.Uint64(header[24:])), nil
}

// A SizeError says that an overlay would be smaller than what it lies over, and so cut
// a guest's file system off.
type SizeError struct {
	Disk          string
	Size, Backing layout.Size // bytes
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("size %s of disk %q is smaller than its backing file, which holds %s", e.Size.Human(), e.Disk, e.Backing.Human())
}

// CheckSize reports a disk whose backing file is not of its format, or larger than its
// overlay is to be. A disk without overlay, and one whose backing file is not there
// (yet), is fine.
func CheckSize(d *plan.Disk) error {
	if !NeedsOverlay(d) {
		return nil
	}
	backing, err := VirtualSize(d.Backing, d.Format)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("backing file of disk %q: %w", d.ID, err)
	case d.Size != 0 && d.Size < backing:
		return &SizeError{d.ID, d.Size, backing}
	}
	return nil
}

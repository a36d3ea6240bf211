// Package disk is the format of the demo's NVMe disk image, which carries the
// orders and the data of one run to the guest and the guest's answer back.
//
// [Create] writes an image with a block of random data, [Open] reads one after the
// run. The image starts with a [Header]; the guest's side of it is the script init.
package disk

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// A Header is the first page of the image: lines of the form "key=value", of which
// the first is "cosim-pci-dma=1", filled up with newlines so that the guest's shell
// can read it. Offsets are bytes in the image, addresses are guest-physical, and all
// are multiples of [PageSize].
type Header struct {
	BlockOffset  int64  // the random block, written by Create
	BlockSize    int64  // bytes
	CopyOffset   int64  // where the guest writes what the DMA moved
	AnswerOffset int64  // where the guest writes the digest of it
	Source       int64  // the address from which the block is moved
	Destination  int64  // the address to which the block is moved
	Script       int64  // the address of the LSI controller's program
	Rounds       int64  // how often the block is moved
	SHA512       string // of the block, in hexadecimal: what the guest has to find
	End          End
}

// PageSize is the unit in which the guest copies, the page of an x86-64.
const PageSize = 4096

// An End says how the guest ends.
type End string

// The ends of a guest.
const (
	Verdict End = "verdict" // after its checks, with a line that says how they went
	Panic   End = "panic"   // with a kernel panic before the first verdict
)

const magic = "cosim-pci-dma=1"

// numbers names the header's numbers as they are written, in order.
func (h *Header) numbers() []number {
	return []number{
		{"block_offset", "%d", &h.BlockOffset}, {"block_size", "%d", &h.BlockSize},
		{"copy_offset", "%d", &h.CopyOffset}, {"answer_offset", "%d", &h.AnswerOffset},
		{"source", "%#x", &h.Source}, {"destination", "%#x", &h.Destination},
		{"script", "%#x", &h.Script}, {"rounds", "%d", &h.Rounds},
	}
}

type number struct {
	key, verb string
	value     *int64
}

// encode renders the header as one page.
func (h *Header) encode() []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, magic)
	for _, n := range h.numbers() {
		fmt.Fprintf(&b, "%s="+n.verb+"\n", n.key, *n.value)
	}
	fmt.Fprintf(&b, "sha512=%s\nend=%s\n", h.SHA512, h.End)
	return append(b.Bytes(), bytes.Repeat([]byte("\n"), PageSize-b.Len())...)
}

// decodeHeader reads a header from the image's first page.
func decodeHeader(page []byte) (Header, error) {
	first, rest, _ := strings.Cut(string(page), "\n")
	if first != magic {
		return Header{}, fmt.Errorf("the image does not start with %q", magic)
	}
	fields := map[string]string{}
	for line := range strings.Lines(rest) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			fields[key] = value
		}
	}
	h := Header{SHA512: fields["sha512"], End: End(fields["end"])}
	for _, n := range h.numbers() {
		value, err := strconv.ParseInt(fields[n.key], 0, 64)
		if err != nil {
			return Header{}, fmt.Errorf("header field %q: %w", n.key, err)
		}
		*n.value = value
	}
	return h, h.check()
}

// check refuses a header whose block or answer would lie outside any image.
func (h *Header) check() error {
	if h.BlockSize <= 0 || h.BlockSize > maxBlock {
		return fmt.Errorf("header field %q: %d is not between 1 and %d", "block_size", h.BlockSize, maxBlock)
	}
	for _, n := range h.numbers() {
		if *n.value < 0 {
			return fmt.Errorf("header field %q: %d is negative", n.key, *n.value)
		}
	}
	return nil
}

// maxBlock is the most that one memory move of the LSI 53C895A can carry: its count
// has 24 bits (LSI53C895A technical manual, Memory Move instruction).
const maxBlock = 1<<24 - 1

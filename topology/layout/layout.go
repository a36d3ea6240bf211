// Package layout computes where each region of a machine lies in its memory pool.
//
// It is pure arithmetic: sizes in, offsets out, every sum checked for overflow.
// [Place] lays out one machine; package topology applies it to a whole model.
package layout

import (
	"errors"
	"fmt"
	"math/bits"
)

// A Size is a number of bytes. No size is larger than [MaxSize].
type Size uint64

// An Addr is an offset in bytes from the start of a pool.
type Addr uint64

// MaxSize is the largest size and the largest end of a region: file offsets are
// signed 64-bit numbers.
const MaxSize Size = 1<<63 - 1

// Binary units.
const (
	KiB Size = 1 << (10 * (iota + 1))
	MiB
	GiB
	TiB
	PiB
)

// DefaultAlign is the alignment of a region that names none, where the page is not
// larger: the size of an x86-64 huge page, so that a region can be mapped with them.
const DefaultAlign = 2 * MiB

// MemoryRegion is the name of a pool's first region, the guest's memory.
const MemoryRegion = "memory"

// A Request asks for one region.
type Request struct {
	Name  string
	Size  Size // a whole multiple of the page, not zero
	Align Size // a power of two of at least one page; 0 means the default
}

// A Region is a range of a pool.
type Region struct {
	Name   string `json:"name"`
	Offset Addr   `json:"offset"`         // bytes from the start of the pool
	Size   Size   `json:"size"`           // bytes
	File   string `json:"file,omitempty"` // where the region is a file of its own, in which it starts at 0
}

// End is the first byte behind the region.
func (r Region) End() Addr { return r.Offset + Addr(r.Size) }

// A Machine is the layout of one machine's pool.
type Machine struct {
	ID      string   `json:"id"`
	Pool    string   `json:"pool,omitempty"` // absolute path; empty outside a session
	Size    Size     `json:"size"`           // bytes, a multiple of the page
	Regions []Region `json:"regions"`
}

// Region finds a region by its full name, such as "mi300x-0.vram".
func (m *Machine) Region(name string) (Region, bool) {
	for _, r := range m.Regions {
		if r.Name == name {
			return r, true
		}
	}
	return Region{}, false
}

// A Layout is the content of layout.json.
type Layout struct {
	Version  int       `json:"version"` // 1
	PageSize Size      `json:"page_size"`
	Machines []Machine `json:"machines"`
}

// Version is the version of the layout.json that this package writes.
const Version = 1

// What can be wrong with a request; [Place] wraps them in a [PlaceError].
var (
	ErrSize     = errors.New("size is not a positive multiple of the page size")
	ErrAlign    = errors.New("alignment is not a power of two of at least one page")
	ErrOverflow = errors.New("pool is larger than 2^63-1 bytes")
	ErrPage     = errors.New("page size is not a power of two of at most 1 GiB")
)

// A PlaceError tells which request cannot be placed.
type PlaceError struct {
	Index int // of the request
	Err   error
}

func (e *PlaceError) Error() string { return fmt.Sprintf("region %d: %v", e.Index, e.Err) }

// Unwrap gives one of the sentinels of this package.
func (e *PlaceError) Unwrap() error { return e.Err }

// ValidPage reports whether page can be a page size: a power of two of at most 1 GiB,
// which is more than any system's base page.
func ValidPage(page Size) bool { return page > 0 && page&(page-1) == 0 && page <= GiB }

// Place lays the requests out in order, the first at offset 0, each next one at the
// next multiple of its alignment. It returns the regions and the pool's size, the end
// of the last region rounded up to the page. It reports every request that is wrong
// in itself; where one is, or where the sum overflows, it returns no regions.
func Place(requests []Request, page Size) ([]Region, Size, []*PlaceError) {
	if !ValidPage(page) {
		return nil, 0, []*PlaceError{{Index: 0, Err: ErrPage}}
	}
	var problems []*PlaceError
	for i, r := range requests {
		switch {
		case r.Size == 0 || r.Size%page != 0:
			problems = append(problems, &PlaceError{i, ErrSize})
		case r.Size > MaxSize:
			problems = append(problems, &PlaceError{i, ErrOverflow})
		}
		if r.Align != 0 && (r.Align&(r.Align-1) != 0 || r.Align < page) {
			problems = append(problems, &PlaceError{i, ErrAlign})
		}
	}
	if problems != nil {
		return nil, 0, problems
	}
	regions := make([]Region, len(requests))
	var end Size
	for i, r := range requests {
		align := r.Align
		if align == 0 {
			align = max(DefaultAlign, page)
		}
		start, ok := roundUp(end, align)
		if ok {
			end, ok = add(start, r.Size)
		}
		if !ok {
			return nil, 0, []*PlaceError{{i, ErrOverflow}}
		}
		regions[i] = Region{Name: r.Name, Offset: Addr(start), Size: r.Size}
	}
	return regions, end, nil // sizes and alignments are multiples of the page, so end is one too
}

func add(a, b Size) (Size, bool) {
	sum, carry := bits.Add64(uint64(a), uint64(b), 0)
	return Size(sum), carry == 0 && Size(sum) <= MaxSize
}

func roundUp(a, align Size) (Size, bool) {
	sum, ok := add(a, align-1)
	return sum &^ (align - 1), ok
}

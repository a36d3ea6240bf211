package pool

import (
	"fmt"
	"io"
	"runtime/debug"
	"unsafe"

	"github.com/cosim-go/cosim/topology/layout"
)

// ReadAt reads from the pool. As io.ReaderAt demands, a read that ends behind the pool
// gives what there is and io.EOF.
func (p *Pool) ReadAt(b []byte, off int64) (int, error) {
	return p.read(b, off, 0, layout.MaxSize)
}

// WriteAt writes to the pool. A write that would end behind the pool writes nothing.
func (p *Pool) WriteAt(b []byte, off int64) (int, error) {
	return p.write(b, off, 0, layout.MaxSize)
}

// Region is a view of a part of the pool, which must lie within it. The view is good
// until the pool is closed.
func (p *Pool) Region(offset layout.Addr, size layout.Size) (*View, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	length := layout.Size(len(p.mem))
	if p.mem == nil {
		return nil, fmt.Errorf("pool %q: %w", p.path, ErrClosed)
	}
	if start := layout.Size(offset); start > length || size > length-start {
		return nil, fmt.Errorf("region of %d bytes at %d of pool %q, which has %d: %w", size, offset, p.path, length, ErrBounds)
	}
	return &View{p, offset, size}, nil
}

// A View is a part of a pool. Offsets count from its own start. It is safe for
// concurrent use.
type View struct {
	pool   *Pool
	offset layout.Addr
	size   layout.Size
}

// Size is the size of the view in bytes.
func (v *View) Size() layout.Size { return v.size }

// ReadAt reads as [Pool.ReadAt] does, within the view.
func (v *View) ReadAt(b []byte, off int64) (int, error) { return v.pool.read(b, off, v.offset, v.size) }

// WriteAt writes as [Pool.WriteAt] does, within the view.
func (v *View) WriteAt(b []byte, off int64) (int, error) {
	return v.pool.write(b, off, v.offset, v.size)
}

// read reads at off of the window that starts at base and has at most size bytes.
func (p *Pool) read(b []byte, off int64, base layout.Addr, size layout.Size) (int, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	window, err := p.window(off, base, size)
	if err != nil {
		return 0, err
	}
	n, err := p.copy(b, window)
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return n, err
}

func (p *Pool) write(b []byte, off int64, base layout.Addr, size layout.Size) (int, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if !p.writable {
		return 0, fmt.Errorf("pool %q is mapped for reading alone", p.path)
	}
	window, err := p.window(off, base, size)
	if err != nil {
		return 0, err
	}
	if len(b) > len(window) {
		return 0, fmt.Errorf("%d bytes at %d of pool %q: %w", len(b), off, p.path, ErrBounds)
	}
	return p.copy(window, b)
}

// window is what lies behind off in the window; it is empty at its end and behind it.
// Every number is compared with what is left, so no sum can overflow. The caller holds mu.
func (p *Pool) window(off int64, base layout.Addr, size layout.Size) ([]byte, error) {
	if p.mem == nil {
		return nil, fmt.Errorf("pool %q: %w", p.path, ErrClosed)
	}
	if off < 0 {
		return nil, fmt.Errorf("offset %d of pool %q: %w", off, p.path, ErrBounds)
	}
	window := p.mem[base:]
	if layout.Size(len(window)) > size {
		window = window[:size]
	}
	return window[min(off, int64(len(window))):], nil
}

// copy copies to or from the mapping. The kernel answers an access to a page that the
// file no longer has, or for which there is no room, with SIGBUS; that becomes an error
// here instead of the end of the process.
func (p *Pool) copy(dst, src []byte) (n int, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			if a, ok := fault.(interface{ Addr() uintptr }); !ok || !p.holds(a.Addr()) {
				panic(fault)
			}
			n, err = 0, fmt.Errorf("pool %q: %w", p.path, ErrFault)
		}
	}()
	return copy(dst, src), nil
}

func (p *Pool) holds(addr uintptr) bool {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(p.mem)))
	return addr >= start && addr-start < uintptr(len(p.mem))
}

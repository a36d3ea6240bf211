// Package pool makes, maps and removes memory pools: one file a machine, mapped by its
// processes, from which regions are cut at offsets.
//
// [Create] makes a pool for other processes, [Open] maps one for readers of our own, and
// [New] does both at once. A [Pool] is an io.ReaderAt and io.WriterAt, and never hands
// out the mapping itself, so nothing outlives [Pool.Close].
//
// # Sparse files
//
// A pool is made sparse and is never allocated in advance: on a tmpfs that would take
// the memory at once. So making one never fails for lack of room; whoever touches a page
// that cannot be had gets SIGBUS. Whether there is room is for package preflight to say.
//
// # Coherence
//
// The mapping is shared: what another process writes through its own mapping shows at
// once, without any order between different bytes. A read or write here is not atomic.
//
// Reads go through the mapping, as those of the simulators do. On a tmpfs, reading a
// hole that way allocates its page.
package pool

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/topology/layout"
)

// Errors of reads and writes, for errors.Is.
var (
	ErrClosed = errors.New("pool is closed")
	ErrBounds = errors.New("outside the pool")
	ErrFault  = errors.New("memory of the pool cannot be had") // the file was cut, or there is no room for a page
)

// Options of [Open]. The zero value maps for reading, whatever the size.
type Options struct {
	Write bool
	Size  layout.Size // that the file must have at least; 0 means any but nothing
}

// A Pool is a mapped pool file. It is safe for concurrent use.
type Pool struct {
	path     string
	writable bool

	mu  sync.RWMutex // held for reading while the mapping is used
	mem []byte       // nil once closed
}

// Create makes a pool file of a size in bytes, with mode 0600 less the umask. A file
// that is there already is an error (fs.ErrExist) and is left alone.
func Create(path string, size layout.Size) error {
	fd, err := create(path, size)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// New makes a pool file as [Create] does, and maps it for reading and writing.
func New(path string, size layout.Size) (*Pool, error) {
	fd, err := create(path, size)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	p, err := mapFile(fd, path, size, true)
	if err != nil {
		unix.Unlink(path)
	}
	return p, err
}

func create(path string, size layout.Size) (fd int, err error) {
	if size == 0 || size > layout.MaxSize {
		return -1, fmt.Errorf("making pool %q: %d bytes is no size of a pool", path, size)
	}
	fd, err = unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return -1, fmt.Errorf("making pool: %w", &os.PathError{Op: "open", Path: path, Err: err})
	}
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		unix.Close(fd)
		unix.Unlink(path)
		return -1, fmt.Errorf("sizing pool %q to %s: %w", path, size.Human(), err)
	}
	return fd, nil
}

// Remove removes a pool file. One that is not there is no error.
func Remove(path string) error {
	if err := unix.Unlink(path); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("removing pool: %w", &os.PathError{Op: "unlink", Path: path, Err: err})
	}
	return nil
}

// Open maps a pool that is there. The descriptor is closed again at once: a mapping
// needs none, and thousands of pools must not use up the open files.
func Open(path string, opts *Options) (*Pool, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	flags := unix.O_RDONLY
	if o.Write {
		flags = unix.O_RDWR
	}
	fd, err := unix.Open(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening pool: %w", &os.PathError{Op: "open", Path: path, Err: err})
	}
	defer unix.Close(fd)
	size, err := sizeOf(fd, path)
	if err != nil {
		return nil, err
	}
	if size < o.Size {
		return nil, fmt.Errorf("pool %q has %s, its layout says %s", path, size.Human(), o.Size.Human())
	}
	return mapFile(fd, path, size, o.Write)
}

func sizeOf(fd int, path string) (layout.Size, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, fmt.Errorf("opening pool %q: %w", path, err)
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return 0, fmt.Errorf("pool %q is not a regular file", path)
	case st.Size == 0:
		return 0, fmt.Errorf("pool %q is empty", path)
	}
	return layout.Size(st.Size), nil
}

func mapFile(fd int, path string, size layout.Size, write bool) (*Pool, error) {
	if size > math.MaxInt {
		return nil, fmt.Errorf("mapping pool %q: %s is more than this process can address", path, size.Human())
	}
	prot := unix.PROT_READ
	if write {
		prot |= unix.PROT_WRITE
	}
	mem, err := unix.Mmap(fd, 0, int(size), prot, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping pool %q of %s: %w", path, size.Human(), err)
	}
	return &Pool{path: path, writable: write, mem: mem}, nil
}

// Size is the size of the pool in bytes when it was opened; 0 once it is closed.
func (p *Pool) Size() layout.Size {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return layout.Size(len(p.mem))
}

// Close unmaps the pool, after the reads and writes that run have ended. Later ones
// are errors. It may be called twice.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mem == nil {
		return nil
	}
	mem := p.mem
	p.mem = nil
	if err := unix.Munmap(mem); err != nil {
		return fmt.Errorf("unmapping pool %q: %w", p.path, err)
	}
	return nil
}

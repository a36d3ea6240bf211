package preflight

import (
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/topology/layout"
)

// A fileSystem is one that pools are to be made on.
type fileSystem struct {
	demand
	mount       string // where it begins
	memory      bool   // its files take memory
	total, free layout.Size
}

func (f *fileSystem) place() place {
	return place{
		inAll: f.mount + " holds %s in all", now: f.mount + " has %s free now",
		hint:  "use less memory, another directory (--pool-dir), or --overcommit",
		total: f.total, free: f.free,
	}
}

// fileSystemsOf groups files by the file systems that they are to be made on, in order
// of first use.
func fileSystemsOf(files []file) []*fileSystem {
	devices := map[string]uint64{} // by directory
	byDevice := map[uint64]*fileSystem{}
	var list []*fileSystem
	for _, f := range files {
		dir := filepath.Dir(f.path)
		device, known := devices[dir]
		if !known {
			found := findFileSystem(dir)
			if found == nil {
				continue
			}
			device = found.device
			devices[dir] = device
			if byDevice[device] == nil {
				byDevice[device] = &found.fileSystem
				list = append(list, &found.fileSystem)
			}
		}
		byDevice[device].add(f.demand)
	}
	return list
}

type foundFileSystem struct {
	fileSystem
	device uint64
}

// findFileSystem finds the file system of a directory that may still have to be made.
// It returns nil where nothing can be told.
func findFileSystem(dir string) *foundFileSystem {
	var st, up unix.Stat_t
	for unix.Stat(dir, &st) != nil {
		if dir == filepath.Dir(dir) {
			return nil
		}
		dir = filepath.Dir(dir)
	}
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return nil
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	for dir != filepath.Dir(dir) && unix.Stat(filepath.Dir(dir), &up) == nil && up.Dev == st.Dev {
		dir = filepath.Dir(dir)
	}
	f := &foundFileSystem{device: st.Dev, fileSystem: fileSystem{
		mount:  dir,
		memory: slices.Contains([]int64{unix.TMPFS_MAGIC, unix.RAMFS_MAGIC, unix.HUGETLBFS_MAGIC}, fs.Type),
	}}
	f.total, f.free = capacity(&fs)
	return f
}

// capacity is what a file system holds, and what of it this user may still have. One in
// memory that has no limit says that it has no blocks.
func capacity(fs *unix.Statfs_t) (total, free layout.Size) {
	if fs.Blocks == 0 {
		return layout.MaxSize, layout.MaxSize
	}
	unit := fs.Frsize // statfs(2): what the numbers of blocks count
	if unit == 0 {
		unit = fs.Bsize
	}
	return blocks(fs.Blocks, unit), blocks(fs.Bavail, unit)
}

// blocks is a number of blocks in bytes.
func blocks(n uint64, unit int64) layout.Size {
	if unit <= 0 || n > uint64(layout.MaxSize)/uint64(unit) {
		return layout.MaxSize
	}
	return layout.Size(n) * layout.Size(unit)
}

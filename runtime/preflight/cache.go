package preflight

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/cosim-go/cosim/runtime/internal/durable"
	"github.com/cosim-go/cosim/runtime/internal/owned"
)

const cacheVersion = 1

// cacheFile is where the answers of QEMU binaries are kept: beside the disk locks, the
// one directory that cosim has outside of workspaces.
func cacheFile(diskLockDir string) string { return filepath.Join(diskLockDir, "qemu.json") }

// A cache keeps the answers of QEMU binaries. An answer holds as long as the binary has
// the same size and time.
type cache struct {
	path    string
	Version int                `json:"version"`
	Answers map[string]*cached `json:"answers"` // by the binary's path
	changed bool
}

type cached struct {
	Size  int64 `json:"size"`
	MTime int64 `json:"mtime"` // nanoseconds after 1970
	offer
}

// openCache reads a cache. What cannot be read, or is not this user's, is an empty one.
func openCache(path string) *cache {
	empty := &cache{path: path, Version: cacheVersion, Answers: map[string]*cached{}}
	f, err := os.Open(path)
	if err != nil {
		return empty
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return empty
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() {
		return empty
	}
	c := &cache{path: path}
	if json.NewDecoder(f).Decode(c) != nil || c.Version != cacheVersion || c.Answers == nil {
		return empty
	}
	return c
}

// offer gives what a binary offers, and asks it where that is not known.
func (c *cache) offer(ctx context.Context, program string) (*offer, error) {
	info, err := os.Stat(program)
	if err != nil {
		return nil, err
	}
	size, mtime := info.Size(), info.ModTime().UnixNano()
	if known := c.Answers[program]; known != nil && known.Size == size && known.MTime == mtime {
		return &known.offer, nil
	}
	o, err := ask(ctx, program)
	if err != nil {
		return nil, err
	}
	c.Answers[program] = &cached{size, mtime, *o}
	c.changed = true
	return o, nil
}

// save writes the answers down. It is only a matter of time saved: where it cannot be
// done, or others could write to the directory, it is left.
func (c *cache) save() {
	dir := filepath.Dir(c.path)
	if !c.changed || os.MkdirAll(dir, 0o700) != nil || owned.Check(dir) != nil {
		return
	}
	durable.Write(c.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(c) })
}

// Package disk makes the overlays of a session's disks, and keeps sessions from
// disturbing each other's.
//
// The locks here are apart from those that QEMU takes on image files itself. They exist
// to fail before anything is started, and with the name of the other session. Each is a
// file in the lock directory, named by the disk file's resolved path (see
// [plan.LockPath]), held by flock(2) and never removed.
package disk

import (
	"os"
	"path/filepath"
)

// maxLinks is the number of symbolic links followed, that of Linux (path_resolution(7)).
const maxLinks = 40

// Resolve follows the symbolic links of an absolute path, as far as it exists: what is
// not there yet (an image still to be built) has the place it would get. Two names of
// one file resolve to the same path.
func Resolve(path string) string { return resolve(filepath.Clean(path), maxLinks) }

func resolve(path string, links int) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	dir = resolve(dir, links)
	path = filepath.Join(dir, filepath.Base(path))
	target, err := os.Readlink(path)
	if err != nil || links == 0 {
		return path
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	return resolve(target, links-1)
}

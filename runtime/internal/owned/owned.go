// Package owned makes and opens directories that are safe to work in: real ones, of
// this user, that nobody else can write to. In such a directory no other user can swap
// a file for a link, wherever it stands; in /tmp and /dev/shm anybody may have made one
// of the expected name before.
package owned

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// An Error says why a directory that is there is not used.
type Error struct {
	Path   string
	Reason string // one line, lower case
}

func (e *Error) Error() string {
	return fmt.Sprintf("directory %q is not used: it %s", e.Path, e.Reason)
}

// Make makes a directory with mode 0700, or opens the one that is there. Its parent
// must exist. The caller closes the root.
func Make(path string) (root *os.Root, made bool, err error) {
	err = os.Mkdir(path, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, false, err
	}
	made = err == nil
	root, err = Open(path)
	return root, made, err
}

// Open opens a directory that is there. The error is an [*Error] where it is not safe,
// and wraps fs.ErrNotExist where there is none. The caller closes the root.
func Open(path string) (*os.Root, error) {
	seen, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if reason := unsafe(seen); reason != "" {
		return nil, &Error{path, reason}
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(seen, opened) {
		err = &Error{path, "was replaced while it was opened"}
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// Check reports whether Open would open the directory, without opening it.
func Check(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if reason := unsafe(info); reason != "" {
		return &Error{path, reason}
	}
	return nil
}

func unsafe(info fs.FileInfo) string {
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return "is a symbolic link"
	case !info.IsDir():
		return "is not a directory"
	case !ok || int(owner.Uid) != os.Geteuid():
		return fmt.Sprintf("belongs to user %d", owner.Uid)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Sprintf("can be written to by others (mode %04o)", info.Mode().Perm())
	}
	return ""
}

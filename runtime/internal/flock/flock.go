// Package flock holds locks that sessions share: flock(2) on a file of its own, with
// the holders' names in it. The kernel drops a lock with its process, however that ends.
package flock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A Mode is shared or exclusive.
type Mode int

// The modes of a lock.
const (
	Shared    Mode = unix.LOCK_SH
	Exclusive Mode = unix.LOCK_EX
)

// A Lock is held until it is released, or its process ends.
type Lock struct {
	path string
	file *os.File
	me   Holder
}

// A look of another process at a lock ([Probe]) holds it for an instant. So a lock whose
// holder is not known is tried again, for a second.
const (
	tries = 200
	pause = 5 * time.Millisecond
)

// Take takes the lock at path, and makes the file where it is not there. It does not
// wait for a holder: the error is a [*HeldError] then.
func Take(path string, mode Mode, me Holder) (*Lock, error) {
	for {
		file, err := open(path)
		if err != nil {
			return nil, err
		}
		l, err := lockFile(file, path, mode, me)
		if err != errReplaced {
			return l, err
		}
	}
}

// errReplaced says that the file was removed by its holder after it was opened: what is
// locked is not the file at path.
var errReplaced = errors.New("lock file was replaced")

// lockFile takes the lock on an open file, which it closes where that fails.
func lockFile(file *os.File, path string, mode Mode, me Holder) (*Lock, error) {
	err := try(file, path, mode)
	if err == nil && !current(file, path) {
		err = errReplaced
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	l := &Lock{path, file, me}
	l.note(mode)
	return l, nil
}

// Probe reports whether the lock at path could be taken: nil, or a [*HeldError]. It
// makes nothing; a lock without a file is free.
func Probe(path string, mode Mode) error {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	err = try(file, path, mode)
	if errors.Is(err, unix.EBADF) {
		return nil // NFS wants a writable descriptor for an exclusive lock; Take finds out
	}
	return err
}

// open prefers a descriptor that can write the holder's name. Where another user made
// the file, reading is enough to lock it. O_CREAT alone would be refused for a file of
// another user in a directory like /tmp (fs.protected_regular of proc(5)).
func open(path string) (*os.File, error) {
	const flags = unix.O_NOFOLLOW | unix.O_NONBLOCK
	for {
		file, err := os.OpenFile(path, os.O_RDWR|flags, 0)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|flags, 0o644)
			if errors.Is(err, fs.ErrExist) {
				continue
			}
		case errors.Is(err, fs.ErrPermission):
			file, err = os.OpenFile(path, os.O_RDONLY|flags, 0)
		}
		if err != nil {
			return nil, err
		}
		if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
			file.Close()
			return nil, fmt.Errorf("lock %q is not a regular file", path)
		}
		return file, nil
	}
}

func try(file *os.File, path string, mode Mode) error {
	for n := 1; ; n++ {
		err := unix.Flock(int(file.Fd()), int(mode)|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.EWOULDBLOCK):
			return fmt.Errorf("locking %q: %w", path, err)
		default:
			holders := living(content(file))
			if len(holders) > 0 || n == tries {
				return &HeldError{path, holders}
			}
			time.Sleep(pause)
		}
	}
}

// current reports whether file is still what stands at path.
func current(file *os.File, path string) bool {
	here, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(here, there)
}

// Release gives the lock up and leaves the file. It may be called twice.
func (l *Lock) Release() error {
	l.forget()
	return l.close()
}

// Remove gives the lock up and removes its file. Whoever waits for it notices, and
// locks a new one.
func (l *Lock) Remove() error {
	if l.file == nil {
		return nil
	}
	return errors.Join(os.Remove(l.path), l.close())
}

func (l *Lock) close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

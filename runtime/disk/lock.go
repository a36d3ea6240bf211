package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/internal/flock"
	"github.com/cosim-go/cosim/runtime/plan"
)

// A LockedError says that another session uses a disk's file in a way that does not
// agree with ours.
type LockedError struct {
	Disk   string // "<machine>/<disk>"
	Path   string // of the disk's file
	Mode   string // that was asked for, "shared" or "exclusive"
	Holder string // in words: session "two" (pid 4711)
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("disk %q uses %s, which is in use by %s", e.Disk, e.Path, e.Holder)
}

// Hint says what to do about it.
func (e *LockedError) Hint() string {
	if e.Mode == "exclusive" {
		return "a direct disk needs its file for itself: wait for that session to end, or use mode overlay or snapshot"
	}
	return "that session writes to the file itself: wait for it to end, or use a copy of the file"
}

// Held are the locks of a session's disks.
type Held struct{ locks []*flock.Lock }

// Release gives all locks up. It may be called twice.
func (h *Held) Release() error {
	var errs []error
	for _, l := range h.locks {
		errs = append(errs, l.Release())
	}
	h.locks = nil
	return errors.Join(errs...)
}

// Acquire takes the locks of all disks of the machines for a session, and makes the
// lock directory where it is missing. It does not wait. Where one cannot be taken it
// holds none, and the error has a [*LockedError] for each. The caller releases them.
func Acquire(machines []plan.Machine, session string) (*Held, error) {
	me, err := flock.Me(session)
	if err != nil {
		return nil, err
	}
	held := &Held{}
	var errs []error
	for _, w := range wantedLocks(machines) {
		if err := os.MkdirAll(filepath.Dir(w.path), 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("making the directory of the disk locks: %w", err), held.Release())
		}
		l, err := flock.Take(w.path, w.mode, me)
		if err != nil {
			errs = append(errs, w.describe(err))
			continue
		}
		held.locks = append(held.locks, l)
	}
	if errs != nil {
		return nil, errors.Join(append(errs, held.Release())...)
	}
	return held, nil
}

// Probe reports the disks whose locks could not be taken now, each as a [*LockedError],
// and other errors of their lock files. It makes nothing.
func Probe(machines []plan.Machine) []error {
	var errs []error
	for _, w := range wantedLocks(machines) {
		if err := flock.Probe(w.path, w.mode); err != nil {
			errs = append(errs, w.describe(err))
		} else if err := canMake(w.path); err != nil {
			return append(errs, fmt.Errorf("the disk locks cannot be made: %w", err)) // the same for all
		}
	}
	return errs
}

// canMake reports whether a file is there, or can be made together with its directory.
func canMake(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		err := unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
		if !errors.Is(err, unix.ENOENT) || dir == filepath.Dir(dir) {
			if err != nil {
				return &fs.PathError{Op: "writing to", Path: dir, Err: err}
			}
			return nil
		}
	}
}

// A wanted lock is one of the session, in the strictest mode that a disk wants it in.
type wanted struct {
	path string
	mode flock.Mode
	name string // "<machine>/<disk>", of the disk that wants that mode
	file string
}

func (w wanted) describe(err error) error {
	var held *flock.HeldError
	if !errors.As(err, &held) {
		return fmt.Errorf("locking disk %q: %w", w.name, err)
	}
	e := &LockedError{Disk: w.name, Path: w.file, Mode: "shared", Holder: held.By()}
	if w.mode == flock.Exclusive {
		e.Mode = "exclusive"
	}
	return e
}

// wantedLocks lists each lock once, in the order of their paths. Disks of remote
// machines have none.
func wantedLocks(machines []plan.Machine) []wanted {
	index := map[string]int{}
	var list []wanted
	for i := range machines {
		for _, d := range machines[i].Disks {
			if d.Lock.Path == "" {
				continue
			}
			w := wanted{path: d.Lock.Path, mode: flock.Shared, name: machines[i].ID + "/" + d.ID, file: d.Backing}
			if d.Lock.Mode == "exclusive" {
				w.mode = flock.Exclusive
			}
			n, known := index[w.path]
			switch {
			case !known:
				index[w.path] = len(list)
				list = append(list, w)
			case w.mode == flock.Exclusive && list[n].mode == flock.Shared:
				list[n] = w
			}
		}
	}
	slices.SortFunc(list, func(a, b wanted) int { return cmp.Compare(a.path, b.path) })
	return list
}

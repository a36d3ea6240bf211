package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cosim-go/cosim/runtime/internal/flock"
	"github.com/cosim-go/cosim/runtime/internal/owned"
)

// A Lock is the right to run a session, and to remove what it left. The kernel ends it
// with its process. It is not safe for concurrent use.
type Lock struct {
	layout Layout
	lock   *flock.Lock
	run    *os.Root   // the run directory
	made   bool       // the pool directory is in use by this session
	wrote  *leftovers // what the plan that this session recorded names, or nil
}

// A LiveError says that the session is running already.
type LiveError struct {
	Name   string
	RunDir string
	PID    int // of its supervisor; 0 where it is not known
}

func (e *LiveError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("session %q is running in %s", e.Name, e.RunDir)
	}
	return fmt.Sprintf("session %q is running in %s (pid %d)", e.Name, e.RunDir, e.PID)
}

// Hint says what to do about it.
func (e *LiveError) Hint() string {
	return "wait for its end, stop it, or choose another name (--name)"
}

// Acquire makes the run directory, with mode 0700, and takes the session's lock. The
// directory .cosim is made where it is missing; of a run directory elsewhere the parent
// must exist. The error is a [*LiveError] where the session is running.
//
// What a dead session left is still there: see [Lock.Sweep]. The caller releases the lock.
func Acquire(l Layout) (*Lock, error) {
	if parent := filepath.Dir(l.RunDir); parent == filepath.Join(l.Workspace, DirName) {
		if err := makeCosimDir(parent); err != nil {
			return nil, fmt.Errorf("making the directory of the sessions: %w", err)
		}
	}
	run, _, err := owned.Make(l.RunDir)
	if err != nil {
		return nil, fmt.Errorf("making the run directory: %w", err)
	}
	return acquire(l, run)
}

// AcquireExisting takes the lock of a session that has run before. The error wraps
// fs.ErrNotExist where there is no run directory, or a directory that never was one.
func AcquireExisting(l Layout) (*Lock, error) {
	run, err := owned.Open(l.RunDir)
	if err != nil {
		return nil, fmt.Errorf("opening the run directory: %w", err)
	}
	if _, err := run.Lstat(lockName); err != nil {
		run.Close()
		return nil, fmt.Errorf("looking for a session in %q: %w", l.RunDir, err)
	}
	return acquire(l, run)
}

func acquire(l Layout, run *os.Root) (*Lock, error) {
	me, err := flock.Me(l.Name)
	if err != nil {
		run.Close()
		return nil, err
	}
	lock, err := flock.Take(l.LockFile(), flock.Exclusive, me)
	if err != nil {
		run.Close()
		return nil, live(l, err)
	}
	return &Lock{layout: l, lock: lock, run: run}, nil
}

// live turns the lock's error into one about the session.
func live(l Layout, err error) error {
	var held *flock.HeldError
	if !errors.As(err, &held) {
		return err
	}
	e := &LiveError{Name: l.Name, RunDir: l.RunDir}
	if len(held.Holders) > 0 {
		e.PID, e.Name = held.Holders[0].PID, held.Holders[0].Name
	}
	return e
}

// makeCosimDir makes the directory of the sessions, which tells git to ignore itself.
func makeCosimDir(path string) error {
	dir, made, err := owned.Make(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if !made {
		return nil
	}
	return dir.WriteFile(".gitignore", []byte("*\n"), 0o600)
}

// Layout gives the paths of the session that is locked.
func (k *Lock) Layout() Layout { return k.layout }

// Release ends the session: another one may run in its place. It may be called twice.
func (k *Lock) Release() error {
	return errors.Join(k.lock.Release(), k.run.Close())
}

// A Status is what can be seen of a session from outside.
type Status struct {
	Exists bool   // there is a run directory
	Live   bool   // a process holds the session's lock
	PID    int    // of that process; 0 where it is not known
	State  *State // as last written; nil where there is none or it cannot be read
}

// Inspect looks at a session and changes nothing.
func Inspect(l Layout) (Status, error) {
	info, err := os.Lstat(l.RunDir)
	if errors.Is(err, fs.ErrNotExist) {
		return Status{}, nil
	}
	if err != nil {
		return Status{}, err
	}
	s := Status{Exists: info.IsDir()}
	if !s.Exists {
		return s, nil
	}
	s.State, _ = ReadState(l.StateFile())
	var running *LiveError
	switch err := live(l, flock.Probe(l.LockFile(), flock.Shared)); {
	case errors.As(err, &running):
		s.Live, s.PID = true, running.PID
	case err != nil:
		return s, err
	}
	return s, nil
}

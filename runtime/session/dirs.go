package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/internal/owned"
)

// MakeMachineDirs makes the directories of machines in the run directory.
func (k *Lock) MakeMachineDirs(machines []string) error {
	for _, m := range machines {
		if err := k.run.Mkdir(m, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("making the directory of machine %q: %w", m, err)
		}
		if info, err := k.run.Lstat(m); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is not a directory", k.layout.MachineDir(m))
		}
	}
	return nil
}

// MakePoolDir makes the pool directory, and the link to it in the run directory.
func (k *Lock) MakePoolDir() error {
	dir, _, err := owned.Make(k.layout.PoolDir)
	if err != nil {
		return fmt.Errorf("making the pool directory: %w", err)
	}
	dir.Close()
	if err := removeLink(k.run, memoryName); err != nil {
		return err
	}
	return os.Symlink(k.layout.PoolDir, k.layout.MemoryLink())
}

// removeLink removes a symbolic link, and nothing else.
func removeLink(dir *os.Root, name string) error {
	info, err := dir.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil
	}
	return dir.Remove(name)
}

// MakeSocketDir makes the directory of the sockets where it is not the run directory.
func (k *Lock) MakeSocketDir() error {
	if k.layout.SocketDir == k.layout.RunDir {
		return nil
	}
	dir, _, err := owned.Make(k.layout.SocketDir)
	if err != nil {
		return fmt.Errorf("making the socket directory: %w", err)
	}
	return dir.Close()
}

// CheckDirs reports which directories of the session could not be made or used: one of
// another user, one that others can write to, a missing parent. It changes nothing.
func (l Layout) CheckDirs() []error {
	dirs := []struct{ what, path string }{{"run directory", l.RunDir}, {"pool directory", l.PoolDir}}
	if l.SocketDir != l.RunDir {
		dirs = append(dirs, struct{ what, path string }{"socket directory", l.SocketDir})
	}
	var problems []error
	for _, d := range dirs {
		if err := l.checkDir(d.path); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", d.what, err))
		}
	}
	return problems
}

func (l Layout) checkDir(path string) error {
	parent := filepath.Dir(path)
	if parent == filepath.Join(l.Workspace, DirName) {
		switch err := owned.Check(parent); {
		case errors.Is(err, fs.ErrNotExist):
			parent = l.Workspace // Acquire makes both
		case err != nil:
			return err
		}
	}
	if err := owned.Check(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	info, err := os.Stat(parent)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%q is to be made in %q, which does not exist", filepath.Base(path), parent)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%q is to be made in %q, which is not a directory", filepath.Base(path), parent)
	case unix.Faccessat(unix.AT_FDCWD, parent, unix.W_OK|unix.X_OK, unix.AT_EACCESS) != nil:
		return fmt.Errorf("%q is to be made in %q, where this user may not write", filepath.Base(path), parent)
	}
	return nil
}

package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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
	if err := os.Symlink(k.layout.PoolDir, k.layout.MemoryLink()); err != nil {
		return err
	}
	k.made = true
	return nil
}

// CheckPools reports the pool files of machines that are there and not the session's:
// somebody else's, or those of another session that was given the same pool directory.
// It changes nothing.
func (l Layout) CheckPools(machines []string) []error {
	if l.linkedTo(l.PoolDir) {
		return nil
	}
	var problems []error
	for _, m := range machines {
		if _, err := os.Lstat(l.Pool(m)); err == nil {
			problems = append(problems, fmt.Errorf("pool of machine %q: %q is there already, and is not this session's", m, l.Pool(m)))
		}
	}
	return problems
}

// ownsPools reports whether the pools in a directory are known to be of a session of
// this run directory: by the directory's name, or by the link to it.
func (l Layout) ownsPools(poolDir string) bool {
	return strings.HasSuffix(filepath.Base(poolDir), "-"+l.Hash) || l.linkedTo(poolDir)
}

// linkedTo reports whether the run directory links to a pool directory. The link is made
// before the pools and removed after them.
func (l Layout) linkedTo(poolDir string) bool {
	target, err := os.Readlink(l.MemoryLink())
	return err == nil && target == poolDir
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
// another user, one that others can write to, a missing parent, a run directory with
// files that a session would replace and none has made. It changes nothing.
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
	if name := l.foreignRecord(); name != "" {
		problems = append(problems, fmt.Errorf("run directory: %q holds a %s that is no session's", l.RunDir, name))
	}
	return problems
}

// foreignRecord names a file of a run directory that never was one, which has the name
// of a session's.
func (l Layout) foreignRecord() string {
	if _, err := os.Lstat(l.LockFile()); err == nil {
		return ""
	}
	for _, name := range []string{stateName, planName, layoutName, memoryName} {
		if _, err := os.Lstat(filepath.Join(l.RunDir, name)); err == nil {
			return name
		}
	}
	return ""
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

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A tree is a copy of the repository's files, to be broken.
type tree struct{ dir string }

// copyTree copies the files of a working tree, as they are there and but for those that
// git ignores, to a temporary directory. The caller removes the copy.
func copyTree(ctx context.Context, root string) (*tree, error) {
	list, err := exec.CommandContext(ctx, "git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", root, err)
	}
	dir, err := os.MkdirTemp("", "cosim-mutants-")
	if err != nil {
		return nil, err
	}
	t := &tree{dir}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if err := t.add(root, name); err != nil {
			return nil, errors.Join(err, t.remove())
		}
	}
	return t, nil
}

// add copies one file or symbolic link. One that git knows but that is gone is left out.
func (t *tree) add(root, name string) error {
	from, to := filepath.Join(root, name), filepath.Join(t.dir, name)
	info, err := os.Lstat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	return copyFile(from, to, info.Mode().Perm())
}

func copyFile(from, to string, perm fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func (t *tree) remove() error { return os.RemoveAll(t.dir) }

// mutate changes the mutant's file, and gives a function that restores it.
func (t *tree) mutate(m mutant) (restore func() error, err error) {
	path := filepath.Join(t.dir, m.file)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	broken, err := m.apply(string(content))
	if err != nil {
		return nil, err
	}
	return func() error { return os.WriteFile(path, content, info.Mode()) }, os.WriteFile(path, []byte(broken), info.Mode())
}

package supervise

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// prepare makes the directories of a process, and removes what would pass for a sign
// of life of it and is none.
func prepare(s *spec, dirs []string) error {
	for _, dir := range s.Dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making its directory: %w", err)
		}
	}
	sockets := []string{s.Ready.Socket, s.Ready.QMP, s.Stop.QMP}
	files := []string{s.Ready.File}
	if s.Console != nil {
		sockets = append(sockets, s.Console.Socket)
		files = append(files, s.Console.Log)
	}
	if s.Expect != nil {
		files = append(files, s.Expect.Log)
	}
	for _, path := range sockets {
		if err := removeStale(path, dirs, fs.ModeSocket); err != nil {
			return err
		}
	}
	for _, path := range files {
		if path == s.Log {
			continue // opening the log empties it
		}
		if err := removeStale(path, dirs, 0); err != nil {
			return err
		}
	}
	return nil
}

// removeStale removes a socket or a regular file (type 0) that a new process will make.
// Anything else there is an error, and so is a place outside the session, since what
// stands there is somebody else's.
func removeStale(path string, dirs []string, kind fs.FileMode) error {
	if path == "" {
		return nil
	}
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if fi.Mode().Type() != kind {
		return fmt.Errorf("%s is in the way: it is %s", path, typeName(fi.Mode()))
	}
	if !inside(path, dirs) {
		return fmt.Errorf("%s is there already, and stays because it lies outside the session", path)
	}
	return os.Remove(path)
}

func typeName(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "a regular file"
	case fs.ModeDir:
		return "a directory"
	case fs.ModeSocket:
		return "a socket"
	case fs.ModeSymlink:
		return "a symbolic link"
	case fs.ModeNamedPipe:
		return "a named pipe"
	default:
		return "a device"
	}
}

// inside reports whether a path lies in one of the directories, symbolic links on the
// way resolved.
func inside(path string, dirs []string) bool {
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return false
	}
	for _, dir := range dirs {
		dir, err := filepath.EvalSymlinks(dir)
		if err == nil && strings.HasPrefix(parent+"/", strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
}

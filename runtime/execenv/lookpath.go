package execenv

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// LookPath finds an executable: a regular file that this user may execute. A name
// without a slash is looked up in Path, the first directory wins; an absolute path is
// looked at itself. It returns the absolute path, and every place looked in: the
// directories, or the path itself. A relative path with a slash is never found, because
// it depends on a directory that is not known here.
func (e ExecEnv) LookPath(name string) (path string, lookedIn []string, ok bool) {
	if strings.Contains(name, "/") {
		if filepath.IsAbs(name) && executable(name) {
			return name, []string{name}, true
		}
		return "", []string{name}, false
	}
	if name == "" || name == "." || name == ".." {
		return "", []string{}, false
	}
	lookedIn = []string{}
	for _, dir := range e.Path {
		lookedIn = append(lookedIn, dir)
		if path := filepath.Join(dir, name); executable(path) {
			return path, lookedIn, true
		}
	}
	return "", lookedIn, false
}

func executable(path string) bool {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false
	}
	return unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) == nil
}

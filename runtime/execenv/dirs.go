package execenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// diskLockDir is COSIM_DISK_LOCK_DIR, or .cache/cosim-gpu/disk-locks in the home
// directory. XDG_CACHE_HOME does not move it: two sessions of one user must meet at the
// same locks whatever their environments are.
func (o *Options) diskLockDir(workDir string) (string, error) {
	if dir := o.Getenv("COSIM_DISK_LOCK_DIR"); dir != "" {
		return absolute(dir, workDir), nil
	}
	home := o.Getenv("HOME")
	if home == "" {
		var err error
		if home, err = homeOf(os.Getuid(), or(o.Passwd, "/etc/passwd")); err != nil {
			return "", fmt.Errorf("finding the directory of the disk locks: HOME and COSIM_DISK_LOCK_DIR are not set, and %w", err)
		}
	}
	return filepath.Join(absolute(home, workDir), ".cache", "cosim-gpu", "disk-locks"), nil
}

// homeOf reads a user's home directory from a passwd(5) file. Package os/user is not
// used because it may ask a name service over a socket.
func homeOf(uid int, passwd string) (string, error) {
	text, err := os.ReadFile(passwd)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		// name:password:uid:gid:comment:home:shell
		fields := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(fields) == 7 && fields[2] == strconv.Itoa(uid) && filepath.IsAbs(fields[5]) {
			return fields[5], nil
		}
	}
	return "", fmt.Errorf("%s has no home directory of user %d", passwd, uid)
}

// A socket in the runtime directory is <dir>/cosim-<8 hex digits>/<n>.sock. A session
// has at most 4096 machines with 1024 devices, two sockets each, and two of the vhost:
// n has at most 7 digits. sockaddr_un (unix(7)) has room for 107 bytes.
const maxRuntimeDir = 107 - len("/cosim-12345678/1234567.sock")

// runtimeDir is XDG_RUNTIME_DIR where sockets can be made in it: absolute, short
// enough, a directory that exists and belongs to this user, as the XDG Base Directory
// Specification demands. One that a change of user left behind is not. Socket paths are
// put into JSON and log patterns as they are, so it holds plain characters only.
func (o *Options) runtimeDir() string {
	dir := o.Getenv("XDG_RUNTIME_DIR")
	if !filepath.IsAbs(dir) || strings.IndexFunc(dir, special) >= 0 {
		return fallbackDir
	}
	dir = filepath.Clean(dir)
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || len(dir) > maxRuntimeDir {
		return fallbackDir
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() {
		return fallbackDir
	}
	return dir
}

func special(r rune) bool {
	return r == '"' || r == '\\' || r == utf8.RuneError || unicode.IsControl(r)
}

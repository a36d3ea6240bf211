package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxPath is the longest path of a Unix socket on Linux: sun_path of unix(7) less its zero
// byte.
const maxPath = 107

// A RefusedError says why there can be no socket.
type RefusedError struct {
	Message string
	Hint    string // may be empty
}

// Error returns the message.
func (e *RefusedError) Error() string { return e.Message }

// A Listener listens on a socket whose file it made.
type Listener struct {
	*net.UnixListener
	Path string
	file fs.FileInfo
	once sync.Once
	err  error
}

// Listen makes a socket and listens on it. The file must not be there.
func Listen(path string) (*Listener, error) {
	l, err := listen(path)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, inTheWay(path, "a socket that nobody listens on any more can be removed")
	}
	return l, refusal(path, err)
}

// TakeOver is Listen for a socket of its owner alone, of mode 0600. A socket that nobody listens on any more is replaced; where
// somebody does, or something else is there, it fails.
func TakeOver(path string) (*Listener, error) {
	if err := Check("listen on", path); err != nil {
		return nil, err
	}
	defer lockDirectory(filepath.Dir(path))()
	old := syscall.Umask(0o177)
	defer syscall.Umask(old)
	l, err := listen(path)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return l, refusal(path, err)
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err = listen(path)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, inTheWay(path, "")
	}
	return l, refusal(path, err)
}

// removeStale removes a socket that nobody listens on.
func removeStale(path string) error {
	if now, err := os.Lstat(path); err == nil && now.Mode()&fs.ModeSocket == 0 {
		return inTheWay(path, "it is no socket; remove it, or listen elsewhere")
	}
	conn, err := net.Dial("unix", path)
	switch {
	case err == nil:
		conn.Close()
		return &RefusedError{fmt.Sprintf("cannot listen on %q: somebody does already", path), "end that one first, or listen elsewhere"}
	case errors.Is(err, syscall.ECONNREFUSED):
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return refusal(path, err)
	}
	return nil
}

// lockDirectory keeps others who take over from doing it at the same time, where the directory lets it.
func lockDirectory(dir string) (unlock func()) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return func() {}
	}
	unix.Flock(fd, unix.LOCK_EX)
	return func() { unix.Close(fd) }
}

func inTheWay(path, hint string) error {
	return &RefusedError{fmt.Sprintf("cannot listen on %q: something of that name is there", path), hint}
}

// refusal returns an error of listening in words.
func refusal(path string, err error) error {
	var refused *RefusedError
	if err == nil || errors.As(err, &refused) {
		return err
	}
	return &RefusedError{Message: fmt.Sprintf("cannot listen on %q: %v", path, Reason(err))}
}

func listen(path string) (*Listener, error) {
	if err := Check("listen on", path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // by then the name may be of something else
	file, err := os.Lstat(path)
	if err != nil {
		l.Close()
		return nil, err
	}
	return &Listener{UnixListener: l, Path: path, file: file}, nil
}

// Check refuses a path that no socket can have. The message says what cannot be done with it.
func Check(what, path string) error {
	if path == "" || len(path) > maxPath {
		return &RefusedError{fmt.Sprintf("cannot %s %q: a path of %d bytes, a socket's has 1 to %d", what, path, len(path), maxPath),
			"a path from the working directory may be shorter"}
	}
	return nil
}

// Close stops listening and removes the socket's file, unless something else has taken its
// name. It may be called again.
func (l *Listener) Close() error {
	l.once.Do(func() {
		l.err = l.UnixListener.Close()
		if now, err := os.Lstat(l.Path); err == nil && l.made(now) {
			os.Remove(l.Path)
		}
	})
	return l.err
}

// made reports whether a file is the socket's own. A file system may give the number of a file
// that is gone to the next one, so the time has to be the same too.
func (l *Listener) made(now fs.FileInfo) bool {
	return os.SameFile(now, l.file) && now.ModTime().Equal(l.file.ModTime())
}

// Reason drops from an error what a message says already.
func Reason(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

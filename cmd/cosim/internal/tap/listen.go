package tap

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"
)

// maxPath is the longest path of a Unix socket on Linux: sun_path of unix(7) less its zero
// byte.
const maxPath = 107

// A RefusedError says why a tap cannot be there.
type RefusedError struct {
	Message string
	Hint    string // may be empty
}

// Error returns the message.
func (e *RefusedError) Error() string { return e.Message }

// socket is a listener and the file that it made.
type socket struct {
	*net.UnixListener
	path string
	file fs.FileInfo
	once sync.Once
}

func listen(path string) (*socket, error) {
	if err := fits("listen on", path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &RefusedError{fmt.Sprintf("cannot listen on %q: something of that name is there", path),
			"a socket that nobody listens on any more can be removed"}
	}
	if err != nil {
		return nil, &RefusedError{Message: fmt.Sprintf("cannot listen on %q: %v", path, reason(err))}
	}
	l.SetUnlinkOnClose(false) // by then the name may be of something else
	file, err := os.Lstat(path)
	if err != nil {
		l.Close()
		return nil, &RefusedError{Message: fmt.Sprintf("cannot listen on %q: %v", path, reason(err))}
	}
	return &socket{UnixListener: l, path: path, file: file}, nil
}

// fits refuses a path that no socket can have.
func fits(what, path string) error {
	if path == "" || len(path) > maxPath {
		return &RefusedError{fmt.Sprintf("cannot %s %q: a path of %d bytes, a socket's has 1 to %d", what, path, len(path), maxPath),
			"a path from the working directory may be shorter"}
	}
	return nil
}

// close stops listening and removes the socket's file, unless something else has taken its
// name. It may be called again.
func (s *socket) close() {
	s.once.Do(func() {
		s.UnixListener.Close()
		if now, err := os.Lstat(s.path); err == nil && s.made(now) {
			os.Remove(s.path)
		}
	})
}

// made reports whether a file is the socket's own. A file system may give the number of a file
// that is gone to the next one, so the time has to be the same too.
func (s *socket) made(now fs.FileInfo) bool {
	return os.SameFile(now, s.file) && now.ModTime().Equal(s.file.ModTime())
}

// reason drops from an error what a message says already.
func reason(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

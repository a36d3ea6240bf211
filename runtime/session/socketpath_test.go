package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Requirement: X2. The limit is the kernel's: it takes a path of that many bytes, and
// none that is longer.
func TestMaxSocketPathIsThatOfTheKernel(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "cosim-") // t.TempDir may be too long already
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for length, fits := range map[int]bool{MaxSocketPath: true, MaxSocketPath + 1: false} {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, strings.Repeat("s", length-len(dir)-1))
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: path})
		unix.Close(fd)
		if (err == nil) != fits {
			t.Errorf("binding a socket to a path of %d bytes: %v, want it to succeed: %v", len(path), err, fits)
		}
	}
}

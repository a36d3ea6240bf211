package frame_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// socketPair returns the two ends of a Unix socket.
func socketPair(tb testing.TB) (a, b *net.UnixConn) {
	tb.Helper()
	dir, err := os.MkdirTemp("", "frame") // shorter than tb.TempDir, whose names a socket may not hold
	if err != nil {
		tb.Fatal(err)
	}
	defer os.RemoveAll(dir)
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	if err != nil {
		tb.Fatal(err)
	}
	defer listener.Close()
	a, err = net.DialUnix("unix", nil, listener.Addr().(*net.UnixAddr))
	if err != nil {
		tb.Fatal(err)
	}
	b, err = listener.AcceptUnix()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// repeated is a stream that says the same over and over.
type repeated struct {
	stream []byte
	at     int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	n = copy(p, r.stream[r.at:])
	r.at = (r.at + n) % len(r.stream)
	return n, nil
}

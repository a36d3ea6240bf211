package tap

import (
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/cmd/cosim/internal/socket"
)

func TestTapLeavesWhatItDidNotMake(t *testing.T) {
	b := tapped(t, nil)
	if _, err := New(b.near, "x", nil, nil); err == nil || !strings.Contains(err.Error(), "something of that name is there") {
		t.Errorf("New on a socket in use = %v", err)
	}
	if err := os.Remove(b.near); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.near, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.cancel()
	if err := <-b.ended; err != nil {
		t.Errorf("Serve = %v", err)
	}
	if got, err := os.ReadFile(b.near); string(got) != "mine" {
		t.Errorf("the file that took the socket's name: %q, %v", got, err)
	}
}

func TestNewRefusesPaths(t *testing.T) {
	long := strings.Repeat("x", 108)
	for _, test := range []struct{ near, far, want string }{
		{long, "y", `cannot listen on "` + long + `": a path of 108 bytes, a socket's has 1 to 107`},
		{"y", long, `cannot connect to "` + long + `": a path of 108 bytes, a socket's has 1 to 107`},
		{"", "y", `cannot listen on "": a path of 0 bytes, a socket's has 1 to 107`},
		{"/nowhere/at/all", "y", `cannot listen on "/nowhere/at/all": no such file or directory`},
	} {
		_, err := New(test.near, test.far, nil, nil)
		var refused *socket.RefusedError
		if !errors.As(err, &refused) || refused.Message != test.want {
			t.Errorf("New(%.10q, %.10q) = %v, want %s", test.near, test.far, err, test.want)
		}
	}
}

// Where there is no descriptor left, the next connection waits until there is.
func TestTapWaitsForDescriptors(t *testing.T) {
	b := tapped(t, nil)
	var limits unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limits); err != nil {
		t.Fatal(err)
	}
	lowest, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	onlyOne := unix.Rlimit{Cur: uint64(lowest.Fd()) + 1, Max: limits.Max}
	lowest.Close()
	setLimit := func(l *unix.Rlimit) {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, l); err != nil {
			t.Fatal(err)
		}
	}
	setLimit(&onlyOne)
	t.Cleanup(func() { setLimit(&limits) })
	near, err := net.Dial("unix", b.near)
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	warned := func() []string {
		b.mu.Lock()
		defer b.mu.Unlock()
		return slices.Clone(b.warned)
	}
	b.wait(func() bool { return len(warned()) > 0 })
	setLimit(&limits)
	far, err := b.far.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	if got, want := warned(), `connections to "/near" have to wait: too many open files`; len(got) != 1 || got[0] != want {
		t.Errorf("warned = %q, want %q", got, want)
	}
}

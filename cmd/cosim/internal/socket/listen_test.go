package socket

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// wantRefused checks that an error is a refusal, with a text in its message.
func wantRefused(t *testing.T, err error, text string) {
	t.Helper()
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Message, text) {
		t.Errorf("the error is %v, want a refusal with %q", err, text)
	}
}

func TestTakeOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first, err := TakeOver(path)
	if err != nil {
		t.Fatal(err)
	}
	if file, err := os.Lstat(path); err != nil || file.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", file.Mode(), err)
	}
	_, err = TakeOver(path)
	wantRefused(t, err, "somebody does already")
	first.UnixListener.Close() // as when its process was killed
	second, err := TakeOver(path)
	if err != nil {
		t.Fatal(err)
	}
	first.Close() // leaves the file of the second
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	second.Close()
	second.Close()
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is still there")
	}
}

func TestTakeOverLeavesFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := TakeOver(path)
	wantRefused(t, err, "something of that name is there")
	if got, err := os.ReadFile(path); string(got) != "mine" {
		t.Errorf("the file: %q, %v", got, err)
	}
	_, err = TakeOver(filepath.Join(path, "below"))
	wantRefused(t, err, "not a directory")
	_, err = TakeOver(strings.Repeat("x", 108))
	wantRefused(t, err, "a path of 108 bytes")
}

// Of those who take over a stale socket at the same time one gets it, and that one keeps it.
func TestTakeOverByMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	for range 20 {
		stale, err := TakeOver(path)
		if err != nil {
			t.Fatal(err)
		}
		stale.UnixListener.Close()
		var all sync.WaitGroup
		var won atomic.Pointer[Listener]
		var winners atomic.Int32
		for range 8 {
			all.Go(func() {
				if l, err := TakeOver(path); err == nil {
					won.Store(l)
					winners.Add(1)
				}
			})
		}
		all.Wait()
		if n := winners.Load(); n != 1 {
			t.Fatalf("%d got the socket", n)
		}
		won.Load().Close()
	}
}

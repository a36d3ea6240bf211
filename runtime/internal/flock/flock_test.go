package flock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/internal/leaktest"
)

func TestMain(m *testing.M) {
	leaktest.Main(m, map[string]func(){
		"shared":    func() { hold(Shared) },
		"exclusive": func() { hold(Exclusive) },
	})
}

// hold takes the lock of its first argument under the name of its second.
func hold(mode Mode) {
	if _, err := take(os.Args[1], mode, os.Args[2]); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("locked")
	leaktest.UntilTold()
}

func take(path string, mode Mode, name string) (*Lock, error) {
	me, err := Me(name)
	if err != nil {
		return nil, err
	}
	return Take(path, mode, me)
}

func holder(t *testing.T, kind, path, name string) *leaktest.Process {
	t.Helper()
	p := leaktest.Helper(t, kind, nil, path, name)
	p.Want("locked")
	return p
}

// wantHeld checks an error of Take or Probe for its holders.
func wantHeld(t *testing.T, err error, by ...*leaktest.Process) {
	t.Helper()
	var held *HeldError
	if !errors.As(err, &held) || len(held.Holders) != len(by) {
		t.Fatalf("error = %v, want %d holders", err, len(by))
	}
	for i, p := range by {
		if held.Holders[i].PID != p.Cmd.Process.Pid {
			t.Errorf("holder %d is %v, want pid %d", i, held.Holders[i], p.Cmd.Process.Pid)
		}
	}
}

func TestAnExclusiveLockKeepsAllOut(t *testing.T) {
	path := t.TempDir() + "/lock"
	p := holder(t, "exclusive", path, "one")
	for _, mode := range []Mode{Shared, Exclusive} {
		_, err := take(path, mode, "two")
		wantHeld(t, err, p)
		wantHeld(t, Probe(path, mode), p)
		if want := fmt.Sprintf("session \"one\" (pid %d)", p.Cmd.Process.Pid); !strings.Contains(err.Error(), want) {
			t.Errorf("error = %q, want %q in it", err, want)
		}
	}
	p.Kill()
	l, err := take(path, Exclusive, "two")
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
}

func TestSharedLocksKeepAnExclusiveOneOutAndNameAllHolders(t *testing.T) {
	path := t.TempDir() + "/lock"
	one, two, three := holder(t, "shared", path, "one"), holder(t, "shared", path, "two"), holder(t, "shared", path, "three")
	if err := Probe(path, Shared); err != nil {
		t.Errorf("Probe for a shared lock = %v", err)
	}
	_, err := take(path, Exclusive, "four")
	wantHeld(t, err, one, two, three)
	two.Kill()
	wantHeld(t, Probe(path, Exclusive), one, three)
	l, err := take(path, Shared, "four")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Release(), l.Release()); err != nil {
		t.Error(err)
	}
	text, _ := os.ReadFile(path)
	if strings.Contains(string(text), "four") || strings.Contains(string(text), "two") || strings.Count(string(text), "\n") != 2 {
		t.Errorf("the file holds %q, want the two that live", text)
	}
}

func TestProbeMakesNothing(t *testing.T) {
	path := t.TempDir() + "/lock"
	if err := Probe(path, Exclusive); err != nil {
		t.Errorf("Probe without a file = %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Probe made the file: %v", err)
	}
}

func TestALockThatWasRemovedIsMadeAnew(t *testing.T) {
	path := t.TempDir() + "/lock"
	old, err := take(path, Exclusive, "one")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	fresh, err := take(path, Exclusive, "two")
	if err != nil {
		t.Fatalf("the new file is held by nobody: %v", err)
	}
	if err := errors.Join(old.Release(), fresh.Remove(), fresh.Remove()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Remove left the file: %v", err)
	}
}

// A look at a lock from elsewhere holds it for an instant and leaves no name.
func TestALookDoesNotKeepTheLockAway(t *testing.T) {
	path := t.TempDir() + "/lock"
	look, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(look.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(4*pause, func() { look.Close() })
	l, err := take(path, Exclusive, "one")
	if err != nil {
		t.Fatalf("Take = %v, want it to try again", err)
	}
	l.Release()
}

// Whoever opened the file before it was removed must not take it for the lock.
func TestAFileThatWasReplacedIsNotTheLock(t *testing.T) {
	path := t.TempDir() + "/lock"
	for _, replace := range []func() error{
		func() error { return os.Remove(path) },
		func() error { return os.WriteFile(path+"2", nil, 0o600) },
		func() error { return os.Rename(path+"2", path) },
	} {
		file, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := replace(); err != nil {
			t.Fatal(err)
		}
		l, err := lockFile(file, path, Exclusive, Holder{})
		if _, here := os.Lstat(path + "2"); here == nil { // nothing was replaced yet
			if err != nil {
				t.Errorf("lockFile = %v, want the lock", err)
			}
			l.Release()
		} else if err != errReplaced {
			t.Errorf("lockFile = %v, %v, want errReplaced", l, err)
		}
	}
}

func TestRemovedLocksNeverHaveTwoHolders(t *testing.T) {
	path := t.TempDir() + "/lock"
	var holders atomic.Int32
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 100 {
				l, err := take(path, Exclusive, "one")
				if err != nil {
					continue // held
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				holders.Add(-1)
				l.Remove()
			}
		})
	}
	workers.Wait()
}

func TestWhatIsNoLockFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Symlink("target", dir+"/link"), os.Mkdir(dir+"/dir", 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "dir", "none/lock"} {
		if _, err := take(dir+"/"+name, Exclusive, "one"); err == nil {
			t.Errorf("Take(%s) took a lock", name)
		}
	}
	if _, err := os.Lstat(dir + "/target"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Take followed the link: %v", err)
	}
}

package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cosim-go/cosim/runtime/internal/leaktest"
)

// Requirements: X2, X5
func TestAcquireMakesPrivateDirectories(t *testing.T) {
	ws := t.TempDir()
	k := acquireIn(t, ws)
	for _, dir := range []string{filepath.Join(ws, ".cosim"), k.Layout().RunDir} {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v, want a directory of mode 0700", dir, info, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(ws, ".cosim", ".gitignore")); err != nil || string(text) != "*\n" {
		t.Errorf(".gitignore = %q, %v, want a star", text, err)
	}
}

func TestASecondSessionIsRefusedUntilTheFirstEnds(t *testing.T) {
	ws := t.TempDir()
	first := leaktest.Helper(t, "acquire", nil, ws)
	first.Want("locked")
	_, err := Acquire(at(t, ws))
	var running *LiveError
	if !errors.As(err, &running) || running.PID != first.Cmd.Process.Pid || running.Name != "s" {
		t.Fatalf("Acquire = %v, want a LiveError with pid %d", err, first.Cmd.Process.Pid)
	}
	if want := fmt.Sprintf("(pid %d)", running.PID); !strings.Contains(err.Error(), want) || running.Hint() == "" {
		t.Errorf("error = %q, want the pid in it", err)
	}
	if s, err := Inspect(at(t, ws)); err != nil || !s.Live || !s.Exists || s.PID != running.PID {
		t.Errorf("Inspect = %+v, %v, want a live session", s, err)
	}

	first.Kill() // the kernel drops the lock with its process, however that ends
	if s, err := Inspect(at(t, ws)); err != nil || s.Live || !s.Exists {
		t.Errorf("Inspect after SIGKILL = %+v, %v, want a dead session", s, err)
	}
	acquireIn(t, ws)
}

func TestReleaseLetsTheNextOneIn(t *testing.T) {
	ws := t.TempDir()
	k := acquireIn(t, ws)
	for range 2 {
		if err := k.Release(); err != nil {
			t.Fatal(err)
		}
	}
	second := leaktest.Helper(t, "acquire", nil, ws)
	second.Want("locked")
}

func TestInspectChangesNothing(t *testing.T) {
	ws := t.TempDir()
	if s, err := Inspect(at(t, ws)); err != nil || s.Exists || s.Live || s.State != nil {
		t.Errorf("Inspect = %+v, %v, want nothing", s, err)
	}
	if names, _ := os.ReadDir(ws); len(names) != 0 {
		t.Errorf("Inspect made %v", names)
	}
}

func TestInspectDoesNotKeepASessionFromStarting(t *testing.T) {
	ws := t.TempDir()
	l := at(t, ws)
	acquireIn(t, ws).Release()
	stop := make(chan struct{})
	var inspectors sync.WaitGroup
	inspectors.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				Inspect(l)
			}
		}
	})
	for range 200 {
		k, err := Acquire(l)
		if err != nil {
			t.Errorf("Acquire = %v, want the lock", err)
			break
		}
		k.Release()
	}
	close(stop)
	inspectors.Wait()
}

// Requirement: X5
func TestForeignRunDirectoriesAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		make   func(t *testing.T, path string) error
		reason string
	}{
		"a link":                       {func(t *testing.T, p string) error { return os.Symlink(t.TempDir(), p) }, "is a symbolic link"},
		"a file":                       {func(t *testing.T, p string) error { return os.WriteFile(p, nil, 0o600) }, "is not a directory"},
		"one that others may write to": {func(t *testing.T, p string) error { return errors.Join(os.Mkdir(p, 0o700), os.Chmod(p, 0o777)) }, "can be written to by others (mode 0777)"},
		"one that belongs to another":  {giveAway, "belongs to user 12345"},
	} {
		for _, which := range []string{".cosim", ".cosim/s"} {
			t.Run(name+" at "+which, func(t *testing.T) {
				ws := t.TempDir()
				path := filepath.Join(ws, which)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := tt.make(t, path); err != nil {
					t.Fatal(err)
				}
				l := at(t, ws)
				if k, err := Acquire(l); err == nil || !strings.Contains(err.Error(), tt.reason) {
					t.Errorf("Acquire = %v, %v, want an error: %s", k, err, tt.reason)
				}
				if problems := l.CheckDirs(); len(problems) != 1 || !strings.Contains(problems[0].Error(), tt.reason) {
					t.Errorf("CheckDirs = %v, want: %s", problems, tt.reason)
				}
			})
		}
	}
}

func giveAway(t *testing.T, path string) error {
	if os.Getuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	return errors.Join(os.Mkdir(path, 0o700), os.Chown(path, 12345, 12345))
}

func TestCheckDirsNamesWhatIsMissing(t *testing.T) {
	ws := t.TempDir()
	l := at(t, ws)
	if problems := l.CheckDirs(); problems != nil {
		t.Errorf("CheckDirs = %v, want none", problems)
	}
	l.RunDir, l.PoolDir, l.SocketDir = ws+"/a/run", ws+"/b/pool", ws+"/c/socket"
	problems := l.CheckDirs()
	if len(problems) != 3 {
		t.Fatalf("CheckDirs = %v, want three problems", problems)
	}
	for i, want := range []string{"run directory: \"run\" is to be made in", "pool directory: \"pool\"", "socket directory: \"socket\""} {
		if !strings.Contains(problems[i].Error(), want) || !strings.Contains(problems[i].Error(), "which does not exist") {
			t.Errorf("problem %d = %q, want %q", i, problems[i], want)
		}
	}
	if names, _ := os.ReadDir(ws); len(names) != 0 {
		t.Errorf("CheckDirs made %v", names)
	}
}

func TestAcquireExistingMakesNoSession(t *testing.T) {
	ws := t.TempDir()
	if _, err := AcquireExisting(at(t, ws)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("AcquireExisting = %v, want fs.ErrNotExist", err)
	}
	acquireIn(t, ws).Release()
	k, err := AcquireExisting(at(t, ws))
	if err != nil {
		t.Fatal(err)
	}
	k.Release()
}

// Requirements: X2, V4, X5
func TestMachinesNamedLikeFilesOfTheSession(t *testing.T) {
	k := acquireIn(t, t.TempDir())
	l := k.Layout()
	if err := k.MakeMachineDirs([]string{"lock", "plan", "vhost", "session", "layout"}); err != nil {
		t.Fatal(err)
	}
	if err := k.MakeMachineDirs([]string{"lock"}); err != nil {
		t.Errorf("making a machine's directory again: %v", err)
	}
	if err := k.MakePoolDir(); err != nil {
		t.Fatal(err)
	}
	if err := WriteState(l.StateFile(), &State{Version: StateVersion}); err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(l.MemoryLink()); err != nil || target != l.PoolDir {
		t.Errorf("memory points to %q, %v, want %q", target, err, l.PoolDir)
	}
	if err := k.MakePoolDir(); err != nil {
		t.Errorf("making the pool directory again: %v", err)
	}
}

func TestAPoolDirectoryOfAnotherMakeIsRefused(t *testing.T) {
	ws := t.TempDir()
	k := acquireIn(t, ws)
	if err := os.Symlink(t.TempDir(), k.Layout().PoolDir); err != nil {
		t.Fatal(err)
	}
	if err := k.MakePoolDir(); err == nil || !strings.Contains(err.Error(), "is a symbolic link") {
		t.Errorf("MakePoolDir = %v, want a refusal of the link", err)
	}
}

func TestWhatStandsInTheLinksPlaceStays(t *testing.T) {
	k := acquireIn(t, t.TempDir())
	if err := os.Mkdir(k.Layout().MemoryLink(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := k.MakePoolDir(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("MakePoolDir = %v, want fs.ErrExist", err)
	}
}

func TestSocketDirectoryIsMadeWhereItIsItsOwn(t *testing.T) {
	ws := t.TempDir()
	k := acquireIn(t, ws)
	if err := k.MakeSocketDir(); err != nil {
		t.Fatal(err)
	}
	k.layout.SocketDir = filepath.Join(ws, "cosim-"+k.layout.Hash)
	if err := k.MakeSocketDir(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(k.layout.SocketDir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("socket directory = %v, %v, want mode 0700", info, err)
	}
}

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/runtime/internal/leaktest"
	"github.com/cosim-go/cosim/runtime/plan"
)

func TestMain(m *testing.M) {
	leaktest.Main(m, map[string]func(){
		"shared":    func() { hold("shared") },
		"exclusive": func() { hold("exclusive") },
	})
}

// hold locks the disk file of its second argument in the lock directory of its first.
func hold(mode string) {
	if _, err := Acquire(machines(os.Args[1], use{os.Args[2], mode}), "other"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("locked")
	leaktest.UntilTold()
}

// A use is one disk: its file, and the mode of its lock.
type use struct{ file, mode string }

// machines makes one machine for each disk.
func machines(lockDir string, uses ...use) []plan.Machine {
	var list []plan.Machine
	for i, u := range uses {
		list = append(list, plan.Machine{ID: fmt.Sprintf("m%d", i), Disks: []plan.Disk{{
			ID: "boot", Backing: u.file, Lock: plan.Lock{Path: plan.LockPath(lockDir, Resolve(u.file)), Mode: u.mode},
		}}})
	}
	return list
}

// Requirements: X1, X3, X5
func TestSessionsThatDisagreeAreToldApart(t *testing.T) {
	for _, tt := range []struct {
		theirs, ours string
		refused      bool
	}{
		{"shared", "shared", false},
		{"shared", "exclusive", true},
		{"exclusive", "shared", true},
		{"exclusive", "exclusive", true},
	} {
		t.Run(tt.theirs+" and "+tt.ours, func(t *testing.T) {
			dir := t.TempDir()
			locks, file := filepath.Join(dir, "a/locks"), filepath.Join(dir, "base.qcow2")
			p := leaktest.Helper(t, tt.theirs, nil, locks, file)
			p.Want("locked")
			ours := machines(locks, use{filepath.Join(dir, "other"), "exclusive"}, use{file, tt.ours})
			probed := errors.Join(Probe(ours)...)
			held, err := Acquire(ours, "mine")
			if !tt.refused {
				if err != nil || probed != nil {
					t.Fatalf("Probe = %v, Acquire = %v, want the locks", probed, err)
				}
				held.Release()
				return
			}
			want := fmt.Sprintf(`disk "m1/boot" uses %s, which is in use by session "other" (pid %d)`, file, p.Cmd.Process.Pid)
			for _, err := range []error{probed, err} {
				var locked *LockedError
				if !errors.As(err, &locked) || locked.Error() != want || locked.Hint() == "" {
					t.Errorf("error = %v, want %s", err, want)
				}
			}
			if free := Probe(ours[:1]); free != nil {
				t.Errorf("a lock is held after a refusal: %v", free)
			}
			p.Kill()
			if held, err = Acquire(ours, "mine"); err != nil {
				t.Fatalf("Acquire after the other session's end = %v", err)
			}
			if err := errors.Join(held.Release(), held.Release()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Requirement: X1
func TestLocksStayAndNameTheirHolder(t *testing.T) {
	locks, file := t.TempDir(), "/images/base.raw"
	ours := machines(locks, use{file, "exclusive"})
	held, err := Acquire(ours, "mine")
	if err != nil {
		t.Fatal(err)
	}
	path := ours[0].Disks[0].Lock.Path
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), fmt.Sprintf("mine %d ", os.Getpid())) {
		t.Errorf("lock file holds %q, %v, want the session and its pid", text, err)
	}
	held.Release()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the lock file was removed: %v", err)
	}
}

func TestDisksThatShareAFileShareALock(t *testing.T) {
	locks := t.TempDir()
	ours := machines(locks, use{"/i/a", "shared"}, use{"/i/b", "shared"}, use{"/i/a", "exclusive"}, use{"/i/a", "shared"})
	ours = append(ours, plan.Machine{ID: "remote", Disks: []plan.Disk{{ID: "boot"}}})
	held, err := Acquire(ours, "mine")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	if len(held.locks) != 2 {
		t.Errorf("%d locks for two files", len(held.locks))
	}
	if list := wantedLocks(ours); !slices.ContainsFunc(list, func(w wanted) bool { return w.name == "m2/boot" }) {
		t.Errorf("wanted = %+v, want the strictest disk of each", list)
	}
}

func TestProbeMakesNothing(t *testing.T) {
	dir := t.TempDir()
	if errs := Probe(machines(dir+"/cache/locks", use{"/i/a", "exclusive"})); errs != nil {
		t.Errorf("Probe = %v", errs)
	}
	if names, _ := os.ReadDir(dir); len(names) != 0 {
		t.Errorf("Probe made %v", names)
	}
}

func TestProbeSaysWhereLocksCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	errs := Probe(machines(file+"/locks", use{"/i/a", "shared"}, use{"/i/b", "shared"}))
	if len(errs) == 0 || !strings.Contains(errs[0].Error(), file) {
		t.Errorf("Probe = %v, want an error that names %s", errs, file)
	}
}

// Requirement: X3
func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		os.MkdirAll(dir+"/real/sub", 0o700), os.WriteFile(dir+"/real/file", nil, 0o600),
		os.Symlink("real", dir+"/dirlink"), os.Symlink("real/file", dir+"/filelink"), os.Symlink(dir+"/real/later", dir+"/dangling"),
		os.Symlink("dirlink/later", dir+"/indirect"),
		os.Symlink("loop", dir+"/loop"), os.Symlink("inside/x", dir+"/inside"),
	); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"real/file":          "real/file",
		"filelink":           "real/file",
		"dirlink/file":       "real/file",
		"dirlink/sub/../new": "real/new",
		"dangling":           "real/later",
		"indirect":           "real/later",
		"dirlink/no/such":    "real/no/such",
		"loop":               "loop",
	} {
		if got := Resolve(dir + "/" + path); got != dir+"/"+want {
			t.Errorf("Resolve(%s) = %q, want %q", path, got, want)
		}
	}
	if a, b := Resolve(dir+"/inside"), Resolve(dir+"/inside"); a != b {
		t.Errorf("Resolve of an endless link = %q and %q", a, b)
	}
	if _, err := os.Lstat(dir + "/real/later"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Resolve made a file: %v", err)
	}
}

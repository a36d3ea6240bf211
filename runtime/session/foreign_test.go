package session_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/runtime/execenv"
	"github.com/cosim-go/cosim/runtime/session"
)

// A directory that no session ran in is none to clean, whatever its files are called.
func TestADirectoryThatNeverWasARunDirectoryIsLeftAlone(t *testing.T) {
	s := newStage(t)
	l := s.l
	l.RunDir = filepath.Join(s.root, "project")
	s.must(os.Mkdir(l.RunDir, 0o700))
	if problems := l.CheckDirs(); problems != nil {
		t.Errorf("CheckDirs of an empty directory = %v, want none", problems)
	}
	s.file(l.RunDir + "/layout.json")
	before := s.tree()
	if k, err := session.AcquireExisting(l); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("AcquireExisting = %v, %v, want fs.ErrNotExist", k, err)
	}
	problems := l.CheckDirs()
	if len(problems) != 1 || !strings.Contains(problems[0].Error(), "holds a layout.json that is no session's") {
		t.Errorf("CheckDirs = %v, want the file", problems)
	}
	if !slices.Equal(before, s.tree()) {
		t.Errorf("left are %v, want %v", s.tree(), before)
	}
}

// givenPools is a session in a pool directory whose name does not tell whose it is.
func givenPools(t *testing.T) *stage {
	s := newStage(t)
	s.must(s.lock.Release())
	s.must(os.RemoveAll(s.l.PoolDir))
	l, err := session.NewLayout(execenv.ExecEnv{WorkDir: s.root, ShmDir: s.root}, session.Options{Name: "s", PoolDir: "pools"})
	s.must(err)
	l.SocketDir = s.l.SocketDir
	s.l, s.plan.Launch.Session.PoolDir, s.plan.Launch.Machines[0].Pool.Path = l, l.PoolDir, l.Pool("m0")
	s.lock, err = session.Acquire(l)
	s.must(err)
	t.Cleanup(func() { s.lock.Release() })
	s.writePlan()
	return s
}

// Another session may have been given the pool directory of one that ended.
func TestPoolsOfAnotherSessionStay(t *testing.T) {
	s := givenPools(t)
	s.must(os.Remove(s.l.MemoryLink()))
	s.must(os.Mkdir(s.l.PoolDir, 0o700))
	s.file(s.l.Pool("m0"))
	problems := s.l.CheckPools([]string{"m1", "m0"})
	if len(problems) != 1 || !strings.Contains(problems[0].Error(), `pool of machine "m0"`) {
		t.Errorf("CheckPools = %v, want that of m0", problems)
	}
	s.sweep(session.SweepOptions{Records: true})
	if _, err := os.Lstat(s.l.Pool("m0")); err != nil {
		t.Errorf("the other session's pool: %v", err)
	}
}

func TestPoolsInAGivenDirectoryAreRemovedAfterADeath(t *testing.T) {
	s := givenPools(t)
	s.must(s.lock.MakePoolDir())
	s.file(s.l.Pool("m0"))
	s.must(s.lock.Release())
	if problems := s.l.CheckPools([]string{"m0"}); problems != nil {
		t.Errorf("CheckPools = %v, want none: the link tells whose they are", problems)
	}
	k, err := session.Acquire(s.l)
	s.must(err)
	defer k.Release()
	_, err = k.Sweep(session.SweepOptions{})
	s.must(err)
	if _, err := os.Lstat(s.l.PoolDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the pool directory: %v, want none", err)
	}
}

// What a session remembers of its plan is removed although its records are gone.
func TestSweepAfterTheRunDirectoryWasRemoved(t *testing.T) {
	s := givenPools(t)
	s.must(s.lock.MakePoolDir())
	s.must(s.lock.Remember())
	s.file(s.l.Pool("m0"))
	s.must(os.RemoveAll(s.l.RunDir))
	s.sweep(session.SweepOptions{})
	s.want("base", "data", ".cosim", ".cosim/.gitignore")
}

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/cosim-go/cosim/runtime/session"
)

// workspaces are those that the tests have run sessions in.
var workspaces struct {
	sync.Mutex
	dirs []string
}

// watchLeftovers makes a directory known as one that sessions run in.
func watchLeftovers(dir string) {
	workspaces.Lock()
	defer workspaces.Unlock()
	workspaces.dirs = append(workspaces.dirs, dir)
}

// wantNothingLeft fails a test that leaves a process, a pool or a socket of a session of
// a workspace. It removes the files, so that a test that fails leaves no memory in use.
func wantNothingLeft(t testing.TB, workspace string) {
	t.Helper()
	if left := leftovers(workspace); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	for _, path := range sharedFiles(workspace) {
		os.RemoveAll(path)
	}
}

// leftovers lists what sessions of a workspace have left: processes, shared memory,
// short socket directories, sockets.
func leftovers(workspace string) []string {
	left := markedProcesses(func(mark string) bool { return ofWorkspace(mark, workspace) })
	left = append(left, sharedFiles(workspace)...)
	filepath.WalkDir(workspace, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type()&fs.ModeSocket != 0 {
			left = append(left, path)
		}
		return nil
	})
	return left
}

// leftoversOfRun lists what the whole run of the tests has left.
func leftoversOfRun() []string {
	run := runVariable + "=" + os.Getenv(runVariable)
	left := processes(func(environ, args [][]byte, exe string) bool {
		return contains(environ, run) || filepath.Dir(exe) == binDir()
	})
	workspaces.Lock()
	defer workspaces.Unlock()
	for _, dir := range workspaces.dirs {
		left = append(left, sharedFiles(dir)...)
	}
	return left
}

// ofWorkspace tells whether a mark, "<name>-<hash>", is that of a session in the
// workspace's own .cosim.
func ofWorkspace(mark, workspace string) bool {
	i := strings.LastIndexByte(mark, '-')
	return i > 0 && session.Hash(filepath.Join(workspace, session.DirName, mark[:i])) == mark[i+1:]
}

// sharedFiles lists what sessions of a workspace have outside of it: pool directories,
// region files, and directories of sockets.
func sharedFiles(workspace string) []string {
	hashes := map[string]bool{}
	names, _ := os.ReadDir(filepath.Join(workspace, session.DirName))
	for _, e := range names {
		hashes[session.Hash(filepath.Join(workspace, session.DirName, e.Name()))] = true
	}
	var left []string
	for _, dir := range []string{"/dev/shm", "/tmp"} {
		entries, _ := filepath.Glob(dir + "/cosim-*")
		for _, path := range entries {
			mark := strings.TrimPrefix(filepath.Base(path), "cosim-")
			hash, _, _ := strings.Cut(mark, "-") // of cosim-<hash>-<machine>, cosim-<hash>
			if ofWorkspace(mark, workspace) || hashes[hash] {
				left = append(left, path)
			}
		}
	}
	return left
}

// guardMark finds the mark on the command line of a session's guard, whose environment
// is empty.
var guardMark = regexp.MustCompile(`^cosim-guard\x00([^\x00]+)\x00$`)

// markedProcesses lists the processes whose session's mark is wanted, guards included.
func markedProcesses(wanted func(mark string) bool) []string {
	return processes(func(environ, args [][]byte, _ string) bool {
		for _, v := range environ {
			if mark, ok := bytes.CutPrefix(v, []byte(session.MarkVariable+"=")); ok && wanted(string(mark)) {
				return true
			}
		}
		m := guardMark.FindSubmatch(append(bytes.Join(args, []byte{0}), 0))
		return m != nil && wanted(string(m[1]))
	})
}

// processes lists the other processes that are wanted, with their command lines.
func processes(wanted func(environ, args [][]byte, exe string) bool) []string {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var found []string
	for _, dir := range dirs {
		if dir == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		environ, _ := os.ReadFile(dir + "/environ")
		cmdline, _ := os.ReadFile(dir + "/cmdline")
		exe, _ := os.Readlink(dir + "/exe")
		args := bytes.Split(bytes.TrimSuffix(cmdline, []byte{0}), []byte{0})
		if wanted(bytes.Split(environ, []byte{0}), args, exe) {
			found = append(found, fmt.Sprintf("%s: %s", dir, bytes.Join(args, []byte(" "))))
		}
	}
	return found
}

func contains(list [][]byte, s string) bool {
	for _, b := range list {
		if string(b) == s {
			return true
		}
	}
	return false
}

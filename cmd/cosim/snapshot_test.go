package main

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// A snapshot is all files below some directories, with their modes, sizes and times.
type snapshot map[string]string

func newSnapshot(dirs ...string) (snapshot, error) {
	s := snapshot{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			s[path] = fmt.Sprintf("%v %d %v", info.Mode(), info.Size(), info.ModTime())
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// changes lists how a later snapshot differs.
func (s snapshot) changes(later snapshot) []string {
	var list []string
	for _, path := range slices.Sorted(maps.Keys(s)) {
		switch now, there := later[path]; {
		case !there:
			list = append(list, "removed "+path)
		case now != s[path]:
			list = append(list, fmt.Sprintf("changed %s from %s to %s", path, s[path], now))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(later)) {
		if _, there := s[path]; !there {
			list = append(list, "made "+path)
		}
	}
	return list
}

func mustSnapshot(t *testing.T, dirs ...string) snapshot {
	t.Helper()
	s, err := newSnapshot(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func cmdSnapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: snapshot NAME")
	}
	s, err := newSnapshot(workAndShared(ts)...)
	ts.Check(err)
	ts.Value(snapshots{}).(map[string]snapshot)[args[0]] = s
}

func cmdUnchanged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unchanged NAME")
	}
	before, known := ts.Value(snapshots{}).(map[string]snapshot)[args[0]]
	if !known {
		ts.Fatalf("no snapshot %q", args[0])
	}
	now, err := newSnapshot(workAndShared(ts)...)
	ts.Check(err)
	if list := before.changes(now); len(list) > 0 {
		ts.Fatalf("files have changed:\n%s", strings.Join(list, "\n"))
	}
}

// workAndShared are the script's directory, and what sessions that run in it have outside.
func workAndShared(ts *testscript.TestScript) []string {
	return append(sharedFiles(ts.Getenv("WORK")), ts.Getenv("WORK"))
}

// snapshots is the key of a script's snapshots.
type snapshots struct{}

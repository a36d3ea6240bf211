package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A switch is to be started only where that would help.
func TestNoSwitch(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path  string
		err   error
		msg   string
		start bool
	}{
		{filepath.Join(dir, "s"), syscall.ENOENT, "no such file", true},
		{file, syscall.ECONNREFUSED, "it is no socket", false},
		{dir, syscall.ECONNREFUSED, "it is no socket", false},
		{filepath.Join(dir, "none", "s"), syscall.ENOENT, "no such file", false},
		{filepath.Join(file, "s"), syscall.ENOTDIR, "not a directory", false},
		{filepath.Join(dir, "s"), syscall.EACCES, "permission denied", false},
	} {
		var refusal *exitError
		err := noSwitch(test.path, test.err)
		if !errors.As(err, &refusal) || refusal.code != exitRefused || !strings.Contains(err.Error(), test.msg) {
			t.Errorf("%s, %v: %v, want %q", test.path, test.err, err, test.msg)
			continue
		}
		start := slices.ContainsFunc(refusal.hints, func(h string) bool { return strings.HasPrefix(h, "start one") })
		if start != test.start {
			t.Errorf("%s, %v: the hints are %q", test.path, test.err, refusal.hints)
		}
	}
}

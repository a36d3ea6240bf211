package execenv

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Requirements: V7, X1
func TestLookPath(t *testing.T) {
	root := t.TempDir()
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	for _, dir := range []string{a, b, filepath.Join(a, "folder")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{
		"a/plain": 0o644, "b/plain": 0o755, "a/both": 0o755, "b/both": 0o755, "b/folder": 0o755, "a/file": 0o755, "b/none": 0o644,
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(a, "file"), filepath.Join(b, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(a, "gone"), filepath.Join(a, "link")); err != nil {
		t.Fatal(err)
	}
	e := ExecEnv{Path: []string{a, b}}
	tests := map[string]struct {
		name, path string
		lookedIn   []string
	}{
		"the first directory wins":              {"both", a + "/both", []string{a}},
		"a file without execute bit is passed":  {"plain", b + "/plain", []string{a, b}},
		"a directory is passed":                 {"folder", b + "/folder", []string{a, b}},
		"a dangling link is passed, a link not": {"link", b + "/link", []string{a, b}},
		"a name that is nowhere":                {"gem5.opt", "", []string{a, b}},
		"a name without execute bit":            {"none", "", []string{a, b}},
		"an absolute path":                      {a + "/file", a + "/file", []string{a + "/file"}},
		"an absolute path to nothing":           {a + "/gone", "", []string{a + "/gone"}},
		"a relative path":                       {"a/file", "", []string{"a/file"}},
		"an empty name":                         {"", "", []string{}},
		"the directory above":                   {"..", "", []string{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path, lookedIn, ok := e.LookPath(tt.name)
			if path != tt.path || ok != (tt.path != "") || !slices.Equal(lookedIn, tt.lookedIn) || lookedIn == nil {
				t.Errorf("LookPath(%q) = %q, %q, %v, want %q, %q", tt.name, path, lookedIn, ok, tt.path, tt.lookedIn)
			}
		})
	}
}

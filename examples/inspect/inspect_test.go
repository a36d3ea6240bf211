package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func inspect(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err strings.Builder
	code = run(args, &out, &err)
	return code, out.String(), err.String()
}

// TestReadme shows that the README prints what the program does.
//
// Requirements: D9, L1
func TestReadme(t *testing.T) {
	code, stdout, stderr := inspect(t, "node.yaml")
	if code != 0 || stderr != "" {
		t.Fatalf("exit status %d: %s", code, stderr)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(readme), "$ go run . node.yaml\n")
	example, _, _ = strings.Cut(example, "\n\n")
	if got := strings.TrimRight(stdout, "\n"); got != strings.ReplaceAll(example[4:], "\n    ", "\n") {
		t.Errorf("inspect node.yaml prints\n%s\nREADME.md has\n%s", got, example)
	}
}

func TestProblems(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bad.yaml")
	text := "version: 1\nkinds: {host: {role: vhost, program: h}}\nmachines:\n  - {id: m, vhost: {kind: host, memory: 6K}}\n"
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := inspect(t, name)
	want := name + ":4:41: guest memory is 6K, not a multiple of the page size 4K\n\thint: write 8K\n"
	if code != 1 || stdout != "" || stderr != want {
		t.Errorf("exit status %d, output %q, problems\n%s\nwant\n%s", code, stdout, stderr, want)
	}
	if code, _, _ := inspect(t, "-page-size=2K", name); code != 0 {
		t.Errorf("with pages of 2K the exit status is %d", code)
	}
	for _, args := range [][]string{{}, {"a", "b"}, {"-page-size=x", name}, {"-nonsense"}} {
		if code, _, _ := inspect(t, args...); code != 2 {
			t.Errorf("%q: exit status %d, want 2", args, code)
		}
	}
}

// TestLinks shows that a file which two names reach is loaded once.
//
// Requirements: T8
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("lib.yaml", "version: 1\nkinds: {host: {role: vhost, program: h}}\n")
	write("main.yaml", "version: 1\nimports: [lib.yaml, link.yaml]\nmachines: [{id: m, vhost: {kind: host, memory: 4K}}]\n")
	if err := os.Symlink("lib.yaml", filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := inspect(t, filepath.Join(dir, "main.yaml")); code != 0 {
		t.Errorf("exit status %d: %s", code, stderr)
	}
}

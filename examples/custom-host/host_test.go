package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/relaytest"
	"github.com/cosim-go/cosim/relay/route"
)

// bin is the directory of the programs: this one, and a cartridge.
var bin string

func TestMain(m *testing.M) {
	status, err := built(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// built calls do with the programs there.
func built(do func() int) (int, error) {
	dir, err := os.MkdirTemp("", "custom-host")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	bin = dir
	for _, of := range []struct{ module, pattern string }{{".", "."}, {"../cartridges", "./hash"}} {
		if said, err := exec.Command("go", "build", "-C", of.module, "-o", dir+"/", of.pattern).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("go build: %v\n%s", err, said)
		}
	}
	return do(), nil
}

const hashCap = "cap:hash=sha256"

// Requirements: D9, C1. A program of others has a switch and a host of its own, with handlers in the program and with a
// process that it starts in its own way.
func TestAnswersAreShouted(t *testing.T) {
	relaytest.NoLeaks(t)
	for _, size := range []int{0, 1, 5 << 20} {
		data := bytes.Repeat([]byte{7}, size)
		var out strings.Builder
		if err := run(t.Context(), filepath.Join(bin, "hash"), hashCap, bytes.NewReader(data), &out); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToUpper(fmt.Sprintf("%x\n", sha256.Sum256(data))); out.String() != want {
			t.Errorf("of %d bytes: %q, want %q", size, out.String(), want)
		}
	}
}

// Requirement: D9. What goes wrong is said, and nothing is left behind.
func TestFailures(t *testing.T) {
	relaytest.NoLeaks(t)
	hash := filepath.Join(bin, "hash")
	for _, c := range []struct{ name, program, cap, want string }{
		{"no such program", "/no/such/program", hashCap, `/no/such/program: exec: "/no/such/program": stat /no/such/program: no such file or directory`},
		{"not in the path", "no-such-program", hashCap, `no-such-program: exec: "no-such-program": executable file not found in $PATH`},
		{"a program that ends", "true", hashCap, "true: reading its HELLO: its output ended"},
		{"a program that is no cartridge", "cat", hashCap, "cat: its HELLO has no manifest"},
		{"a cap that nobody serves", hash, "cap:sing", "NO_HANDLER (environment): nobody serves cap:sing"},
		{"no cap", hash, "hash", ""},
	} {
		var out strings.Builder
		err := run(t.Context(), c.program, c.cap, strings.NewReader("hello"), &out)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || out.Len() > 0 {
			t.Errorf("%s: %v and the answer %q, want %q", c.name, err, out.String(), c.want)
		}
	}
	if err := run(t.Context(), hash, "cap:sing", nil, nil); !errors.Is(err, route.ErrNoHandler) {
		t.Errorf("a cap that nobody serves: %v", err)
	}
}

type broken struct{ error }

func (b broken) Read([]byte) (int, error)  { return 0, b.error }
func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestFailuresOfTheCaller(t *testing.T) {
	relaytest.NoLeaks(t)
	lost := broken{errors.New("the disk is gone")}
	hash := filepath.Join(bin, "hash")
	if err := run(t.Context(), hash, hashCap, lost, nil); !errors.Is(err, lost.error) {
		t.Errorf("an input that fails: %v", err)
	}
	if err := run(t.Context(), hash, hashCap, strings.NewReader(""), lost); !errors.Is(err, lost.error) {
		t.Errorf("an output that fails: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(call.ErrCancelledByUser)
	if err := run(ctx, hash, hashCap, strings.NewReader(""), nil); !errors.Is(err, call.ErrCancelledByUser) {
		t.Errorf("in a context that has ended: %v", err)
	}
}

// The README has what the program prints.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	runs := regexp.MustCompile(`(?m)^    \$ (echo .* \| (?:\S*/)?custom-host .*)\n    (.*)$`).FindAllStringSubmatch(string(text), -1)
	if len(runs) < 3 {
		t.Fatalf("README.md has %d runs", len(runs))
	}
	for _, r := range runs {
		line := strings.NewReplacer("build/", bin+"/").Replace(r[1])
		said, _ := exec.Command("sh", "-c", line).CombinedOutput()
		if got, want := strings.ReplaceAll(string(said), bin+"/", "build/"), r[2]+"\n"; got != want {
			t.Errorf("%s\nprints %q, README.md has %q", r[1], got, want)
		}
	}
}

func TestUsage(t *testing.T) {
	said, err := exec.Command(filepath.Join(bin, "custom-host")).CombinedOutput()
	if err == nil || string(said) != "usage: custom-host PROGRAM CAP\n" {
		t.Errorf("without arguments it says %q, %v", said, err)
	}
}

// A process of nice's has a lower priority, leads a group that Kill ends as a whole, and says how it ended.
func TestNice(t *testing.T) {
	relaytest.NoLeaks(t)
	for _, c := range []struct {
		script string
		kill   bool
		want   host.ExitState
	}{
		{script: "cat; exit 3", want: host.ExitState{Status: 3}},
		{script: "kill -TERM $$", want: host.ExitState{Status: -1, Signal: "15"}},
		{script: "sleep 1000 & wait", kill: true, want: host.ExitState{Status: -1, Signal: "9"}},
	} {
		p, err := nice{}.Start(t.Context(), host.Command{Path: "sh", Args: []string{"-c", "echo error >&2; nice; " + c.script}})
		if err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 3)
		if n, err := p.Stdout().Read(line); string(line[:n]) != "10\n" {
			t.Errorf("%s: its priority is %q, %v", c.script, line[:n], err)
		}
		if c.kill {
			p.Kill()
		}
		p.Stdin().Close()
		for range 2 {
			if got, err := p.Wait(); got != c.want || err != nil {
				t.Errorf("%s: Wait = %+v, %v, want %+v", c.script, got, err, c.want)
			}
		}
		var said bytes.Buffer // until everything has ended that has the pipe
		if _, err := said.ReadFrom(p.Stderr()); said.String() != "error\n" || err != nil {
			t.Errorf("%s: standard error is %q, %v", c.script, said.String(), err)
		}
		p.Stdout().Close()
		p.Stderr().Close()
	}
}

// Requirement: D9. The program is meant to be read and copied: it is short, and imports what everybody may.
func TestTheProgramIsShortAndImportsPublicPackagesAlone(t *testing.T) {
	lines := 0
	for _, name := range []string{"main.go", "nice.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(path, "/")
			if strings.Contains(first, ".") && !strings.HasPrefix(path, "github.com/cosim-go/cosim/relay/") || strings.Contains("/"+path+"/", "/internal/") {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
	if files, err := filepath.Glob("*.go"); err != nil || len(files) != 3 {
		t.Errorf("files %q, %v: those of the program are not all looked at", files, err)
	}
	if lines >= 150 {
		t.Errorf("the program has %d lines of code, want less than 150", lines)
	}
}

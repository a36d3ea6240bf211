package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output inside the scripts")

// Each script is one behaviour of the command as users type it. At its end nothing of
// its sessions may be left.
//
// Besides the commands of testscript the scripts have
//
//	status CODE COMMAND ARG...   exec, and compare the exit status
//	plain stdout|stderr|FILE OUT copy text with all that differs from run to run replaced
//	await FILE [REGEXP]          wait until a file is there, and matches
//	snapshot NAME                remember all files below $WORK
//	unchanged NAME               compare all files below $WORK with a snapshot
func TestScript(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", WorkdirRoot: t.TempDir(), UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, ".home")
			env.Setenv("HOME", home)
			env.Setenv("PATH", binDir()+":/usr/bin:/bin")
			env.Setenv("ROOT", root)
			env.Setenv("NO_COLOR", "1")
			env.Setenv("XDG_RUNTIME_DIR", "")
			for _, name := range []string{runVariable, "GORACE"} {
				env.Setenv(name, os.Getenv(name))
			}
			env.Values[snapshots{}] = map[string]snapshot{}
			watchLeftovers(env.WorkDir)
			env.Defer(func() { wantNothingLeft(env.T().(testing.TB), env.WorkDir) })
			return os.Mkdir(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": cmdStatus, "plain": cmdPlain, "await": cmdAwait,
			"snapshot": cmdSnapshot, "unchanged": cmdUnchanged,
		},
	})
}

func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d\n[stdout]\n%s[stderr]\n%s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

func cmdPlain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: plain stdout|stderr|FILE OUT")
	}
	text := plain(ts.ReadFile(args[0]), ts.Getenv("WORK"))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// What differs from run to run, and what stands in its place.
var varying = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`(/cosim-[A-Za-z0-9_-]+-)[0-9a-f]{8}\b`), "${1}HASH"},
	{regexp.MustCompile(`/cosim-[0-9a-f]{8}\b`), "/cosim-HASH"},
	{regexp.MustCompile(`\bpid [0-9]+`), "pid PID"},
	{regexp.MustCompile(`\bafter [0-9.]+(ns|µs|ms|s)`), "after TIME"},
	{regexp.MustCompile(`/[0-9a-f]{16}\.lock`), "/LOCK.lock"},
	{regexp.MustCompile(`"stream":"[0-9a-f-]{36}"`), `"stream":"ID"`},
	{regexp.MustCompile(`"digest": "[0-9a-f]{64}"`), `"digest": "DIGEST"`}, // of absolute paths
}

// plain makes what a command prints the same in each run.
func plain(text, work string) string {
	text = regexp.MustCompile(regexp.QuoteMeta(work)+`\b`).ReplaceAllString(text, "$$WORK")
	text = regexp.MustCompile(regexp.QuoteMeta(binDir())+`\b`).ReplaceAllString(text, "$$BIN")
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.text)
	}
	return text
}

// patience bounds what real processes may take on a machine that is busy with others.
const patience = 2 * time.Minute

func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: await FILE [REGEXP]")
	}
	pattern, err := regexp.Compile("")
	if len(args) == 2 {
		pattern, err = regexp.Compile("(?m)" + args[1])
	}
	ts.Check(err)
	ts.Check(poll(func() error {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && !pattern.Match(text) {
			return fmt.Errorf("%s does not match %q:\n%s", args[0], pattern, text)
		}
		return err
	}))
}

// poll looks until what it looks for is there, and returns the last error otherwise.
func poll(look func() error) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.After(patience)
	for {
		err := look()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-end:
			return fmt.Errorf("after %s: %w", patience, err)
		}
	}
}

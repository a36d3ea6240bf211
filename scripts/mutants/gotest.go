package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// timeLimit bounds one run of the tests, without their compilation.
const timeLimit = 2 * time.Minute

// An outcome is what a run of `go test` has shown.
type outcome struct {
	passed []string // top-level tests, in the order of their ends
	failed string   // the first test that failed, the innermost where it has subtests
	output string   // of what failed, or of a build that failed

	noBuild bool   // it does not compile
	broke   bool   // a package failed without a test that did
	hung    string // the test, or else the package, that the time limit ended
}

// goTest runs tests in a copy of the repository. Results are never taken from the cache.
func goTest(ctx context.Context, root string, c command) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit+3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-json", "-count=1", "-failfast", "-vet=off", "-trimpath",
		"-short="+strconv.FormatBool(!c.long), "-timeout", timeLimit.String(), "-run", c.run, c.packages)
	cmd.Dir = filepath.Join(root, c.module)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if ctx.Err() != nil {
		return outcome{}, fmt.Errorf("%s: %w", cmd, ctx.Err())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome{}, err
	}
	o, readErr := read(bytes.NewReader(stdout))
	if readErr != nil || (err != nil && !o.red()) {
		return outcome{}, fmt.Errorf("%s in %s: %w\n%s", cmd, c.module, errors.Join(err, readErr), stderr.Bytes())
	}
	return o, nil
}

// red reports whether anything failed.
func (o outcome) red() bool { return o.failed != "" || o.noBuild || o.broke || o.hung != "" }

// An event is one line that `go test -json` writes; see `go doc test2json`.
type event struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
}

// read follows the events of a run.
func read(r io.Reader) (outcome, error) {
	var o outcome
	outputs := make(map[string]*strings.Builder) // by test, package, or what was built
	note := func(key, text string) {
		if outputs[key] == nil {
			outputs[key] = &strings.Builder{}
		}
		outputs[key].WriteString(text)
	}
	dec := json.NewDecoder(r)
	for {
		var e event
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			return o, nil
		} else if err != nil {
			return o, fmt.Errorf("reading the output of go test: %w", err)
		}
		switch key := e.ImportPath + e.Package + "\x00" + e.Test; e.Action {
		case "output", "build-output":
			note(key, e.Output)
			if strings.HasPrefix(e.Output, "panic: test timed out after ") {
				o.hung = cmp.Or(e.Test, e.Package)
			}
		case "pass":
			if e.Test != "" && !strings.Contains(e.Test, "/") {
				o.passed = append(o.passed, e.Test)
			}
		case "build-fail":
			o.noBuild = true
			note(key, "")
			o.output += outputs[key].String()
		case "fail":
			note(key, "")
			switch {
			case e.Test != "" && o.failed == "":
				o.failed, o.output = e.Test, outputs[key].String()
			case e.Test == "" && e.FailedBuild != "":
				o.noBuild = true
			case e.Test == "" && o.failed == "":
				o.broke = true
				o.output += outputs[key].String()
			}
		}
	}
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/cosim-go/cosim/runtime/session"
)

// A workspace is a directory that a test runs cosim in, as a user does, with a home of
// its own. At the end of the test no session of it may have left anything.
type workspace struct {
	t    *testing.T
	dir  string // short, since sockets are below it
	home string
	env  []string // on top of the environment of the tests
}

// newWorkspace makes a workspace with the files of a txtar archive.
func newWorkspace(t *testing.T, files string) *workspace {
	t.Helper()
	dir, err := os.MkdirTemp("", "ct")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	w := &workspace{t: t, dir: filepath.Join(dir, "w"), home: filepath.Join(dir, "home")}
	w.env = []string{"HOME=" + w.home, "TMPDIR=" + filepath.Join(dir, "tmp"), "XDG_RUNTIME_DIR=", "COSIM_DISK_LOCK_DIR=", "NO_COLOR=1"}
	for _, d := range []string{w.dir, w.home, filepath.Join(dir, "tmp")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range txtar.Parse([]byte(files)).Files {
		w.write(f.Name, string(f.Data))
	}
	watchLeftovers(w.dir)
	t.Cleanup(func() {
		wantNothingLeft(t, w.dir)
		os.RemoveAll(dir)
	})
	return w
}

func (w *workspace) path(name string) string { return filepath.Join(w.dir, name) }

// write writes a file. One in bin/ can be executed.
func (w *workspace) write(name, text string) {
	w.t.Helper()
	mode := os.FileMode(0o600)
	if strings.HasPrefix(name, "bin/") {
		mode = 0o700
	}
	err := errors.Join(os.MkdirAll(filepath.Dir(w.path(name)), 0o700), os.WriteFile(w.path(name), []byte(text), mode))
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *workspace) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// readJSON reads a file, or a text that a command printed where the name is empty.
func (w *workspace) readJSON(name, text string, v any) {
	w.t.Helper()
	if name != "" {
		text = w.read(name)
	}
	if err := json.Unmarshal([]byte(text), v); err != nil {
		w.t.Fatalf("%s: %v\n%s", name, err, text)
	}
}

// command is cosim in the workspace.
func (w *workspace) command(args ...string) *exec.Cmd {
	cmd := exec.Command("cosim", args...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), w.env...)
	return cmd
}

// cosim runs one command line to its end.
func (w *workspace) cosim(args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	p := w.start(args...)
	code = p.wait()
	return code, p.stdout.String(), p.stderr.String()
}

// want runs one command line and fails the test unless it ends with a code.
func (w *workspace) want(code int, args ...string) (stdout, stderr string) {
	w.t.Helper()
	got, stdout, stderr := w.cosim(args...)
	if got != code {
		w.t.Fatalf("cosim %s = %d, want %d\n[stdout]\n%s\n[stderr]\n%s", strings.Join(args, " "), got, code, stdout, stderr)
	}
	return stdout, stderr
}

// plain makes the same of what a command prints in each run.
func (w *workspace) plain(text string) string { return plain(text, w.dir) }

// start starts one command line. The test's end ends it, should it still run.
func (w *workspace) start(args ...string) *process {
	w.t.Helper()
	return startProcess(w.t, w.command(args...))
}

// state reads the session.json of a session that runs or ran.
func (w *workspace) state(name string) *session.State {
	w.t.Helper()
	state, err := session.ReadState(w.path(".cosim/" + name + "/session.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	return state
}

// pid waits until session.json tells that a process runs.
func (w *workspace) pid(name, id string) int {
	w.t.Helper()
	pid := 0
	err := poll(func() error {
		state, err := session.ReadState(w.path(".cosim/" + name + "/session.json"))
		if err != nil {
			return err
		}
		for _, p := range state.Processes {
			if p.ID == id && p.PID > 0 {
				pid = p.PID
				return nil
			}
		}
		return fmt.Errorf("session.json has no running %s", id)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return pid
}

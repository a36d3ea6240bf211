package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// newWorkspace builds cosim and this program as `make build` does, in a directory of
// the test's own.
func newWorkspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, source := range map[string]string{"cosim": "../../cmd/cosim", "loopback": "."} {
		build := exec.Command("go", "build", "-o", filepath.Join(dir, "build", name), ".")
		build.Dir = source
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building %s: %v\n%s", name, err, out)
		}
	}
	return dir
}

// cosim runs one command in the workspace and returns its exit code and output.
func cosim(t *testing.T, dir string, args ...string) (int, string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(dir, "build/cosim"), args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// The example with the real cosim: kinds written in YAML, their placeholders,
// readiness, attachments, regions and a verdict.
//
// Requirements: L1, X5, X6
func TestTopologyRuns(t *testing.T) {
	dir := newWorkspace(t)
	data, err := os.ReadFile("topology.yaml")
	if err != nil {
		t.Fatal(err)
	}
	spoilt := strings.Replace(string(data), "count: 2}", "count: 2, params: {spoil: true}}", 1)
	if spoilt == string(data) {
		t.Fatal("the topology has no device to spoil")
	}
	for _, c := range []struct {
		name, topology, verdict string
		code                    int
	}{
		{"good", string(data), "VERDICT: PASS", 0},
		{"spoilt", spoilt, "VERDICT: FAIL", 4},
	} {
		file := filepath.Join(dir, c.name+".yaml")
		if err := os.WriteFile(file, []byte(c.topology), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out := cosim(t, dir, "run", file)
		if code != c.code || !strings.Contains(out, c.verdict) {
			t.Errorf("%s: cosim run = %d, want %d and %q\n%s", c.name, code, c.code, c.verdict, out)
		}
		log, err := os.ReadFile(filepath.Join(dir, ".cosim", c.name, "m0/vhost.log"))
		if err != nil || !strings.Contains(string(log), c.verdict+"\n") {
			t.Errorf("%s: the host's log is %q (%v)", c.name, log, err)
		}
	}
}

// Package realtool finds the programs that tests run for real. Other code does not
// import it.
package realtool

import (
	"os/exec"
	"testing"
)

// Path finds a program in PATH. Where it is missing, the test fails, so that nobody
// believes in a check that did not run; with -short it is skipped.
func Path(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
	case testing.Short():
		t.Skipf("%s is not installed", name)
	default:
		t.Fatalf("%s is not installed; scripts/setup installs it on Debian, and -short does without", name)
	}
	return path
}

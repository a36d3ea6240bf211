package doctest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// buildCosim builds the command and gives the directory it is in.
func buildCosim(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "cosim"), "github.com/cosim-go/cosim/cmd/cosim")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building cosim: %v\n%s", err, out)
	}
	return bin
}

// runConsole runs the commands of a console in a directory with the given files, and gives
// the console as it looks then.
func runConsole(t *testing.T, bin string, files []exampleFile, console string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.name), []byte(f.text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	for _, command := range commands(console) {
		out.WriteString("$ " + command + "\n" + shell(t, bin, dir, command))
	}
	return out.String()
}

func commands(console string) []string {
	var all []string
	for line := range strings.Lines(console) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, strings.TrimSuffix(command, "\n"))
		}
	}
	return all
}

// shell runs a command and gives its output, in which the directory is /home/me.
func shell(t *testing.T, bin, dir, command string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+dir)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.ReplaceAll(string(out), dir, "/home/me")
}

// Requirement: T10. The whole documents in the reference are valid.
func TestReferenceExamplesAreValid(t *testing.T) {
	bin := buildCosim(t)
	for _, h := range readPage(t, reference).headings {
		for _, b := range h.blocks {
			if b.language != "yaml" || !strings.HasPrefix(b.text, "version:") {
				continue
			}
			const console = "$ cosim validate topology.yaml && echo valid\n"
			if got := runConsole(t, bin, []exampleFile{fileOf(b)}, console); !strings.HasSuffix(got, "\nvalid\n") {
				t.Errorf("%q: %s", h.title, got)
			}
		}
	}
}

package cartridges

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A run is a command of README.md and what it prints there.
type run struct{ command, output string }

// runs returns those that call the programs in build.
func runs(t *testing.T) (all []run) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^    \$ (build/.*)\n((?:    [^$\n].*\n)*)`).FindAllStringSubmatch(string(text), -1) {
		output := strings.TrimPrefix(strings.ReplaceAll("\n"+m[2], "\n    ", "\n"), "\n")
		all = append(all, run{m[1], output})
	}
	return all
}

// TestReadme shows that the programs say what README.md has, when they are run as it has them.
func TestReadme(t *testing.T) {
	dir := t.TempDir()
	build := filepath.Join(dir, "build")
	if err := os.CopyFS(build, os.DirFS(bin)); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command("go", "build", "-C", "../../cmd/cosim", "-o", build+"/", ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	license, err := os.ReadFile("../../LICENSE")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "LICENSE"), license, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	var joined []func()
	for _, r := range runs(t) {
		if strings.Contains(r.command, " relay switch ") || strings.Contains(r.command, " relay host ") {
			joined = append(joined, stays(t, dir, r))
			continue
		}
		for _, wait := range joined {
			wait()
		}
		joined = nil
		calls++
		cmd := exec.Command("sh", "-c", r.command)
		cmd.Dir = dir
		said, _ := cmd.CombinedOutput() // the status is that of the last part of a pipe
		if string(said) != r.output {
			t.Errorf("%s\nprints %q, README.md has %q", r.command, said, r.output)
		}
	}
	if calls < 5 {
		t.Errorf("README.md has %d calls", calls)
	}
}

// stays starts a program that goes on until the end of the test. It returns when that has printed the first line. The
// function that it returns waits for the others.
func stays(t *testing.T, dir string, r run) (wait func()) {
	t.Helper()
	args := strings.Fields(r.command)
	cmd := exec.Command(filepath.Join(dir, args[0]), args[1:]...)
	cmd.Dir = dir
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		rest, _ := io.ReadAll(said)
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
			t.Errorf("%s ends with %v and says %s", r.command, err, rest)
		}
	})
	pid := regexp.MustCompile(`pid \d+`)
	await := func(lines ...string) {
		t.Helper()
		for _, want := range lines {
			if got, err := said.ReadString('\n'); pid.ReplaceAllString(got, "pid 4711") != want {
				t.Fatalf("%s\nprints %q, %v, README.md has %q", r.command, got, err, want)
			}
		}
	}
	lines := slices.Collect(strings.Lines(r.output))
	await(lines[:1]...)
	return func() { await(lines[1:]...) }
}

// Package leaktest runs a package's tests and fails where they leave descriptors,
// goroutines or shared memory behind. It also gives tests other processes to deal with:
// the test binary itself, started once more with one of the helpers that Main is given.
package leaktest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
)

const helperVariable = "COSIM_TEST_HELPER"

// Main is the whole of a TestMain: it does not return. A process that was started by
// [Helper] becomes the helper of that name instead, with its arguments in os.Args[1:].
func Main(m *testing.M, helpers map[string]func()) {
	if name := os.Getenv(helperVariable); name != "" {
		helpers[name]()
		os.Exit(0)
	}
	files, goroutines, shm := openFiles(), runtime.NumGoroutine(), sharedMemory()
	code := m.Run()
	if code == 0 {
		code = report(files, goroutines, shm)
	}
	os.Exit(code)
}

func report(files []string, goroutines int, shm []string) int {
	code := 0
	fail := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "FAIL: the tests leave "+format+"\n", args...)
		code = 1
	}
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > goroutines && time.Now().Before(deadline) {
		runtime.Gosched() // goroutines that have been told to end still have to
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		fail("%d goroutines, there were %d", n, goroutines)
		pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
	}
	if left := less(openFiles(), files); len(left) > 0 {
		fail("open files: %s", strings.Join(left, ", "))
	}
	if left := less(sharedMemory(), shm); len(left) > 0 {
		fail("shared memory: %s", strings.Join(left, ", "))
	}
	return code
}

func openFiles() []string {
	links, _ := filepath.Glob("/proc/self/fd/*")
	var files []string
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || strings.HasPrefix(target, "anon_inode:[event") {
			continue // closed since, or the Go runtime's own poller
		}
		files = append(files, target)
	}
	return files
}

// sharedMemory lists what the tests of this process may have made in /dev/shm; other
// test binaries run at the same time.
func sharedMemory() []string {
	names, _ := filepath.Glob(ShmPrefix() + "*")
	return names
}

// ShmPrefix begins the path of everything that this test binary makes in /dev/shm.
func ShmPrefix() string { return fmt.Sprintf("/dev/shm/cosim-test-%d-", os.Getpid()) }

// ShmDir makes a directory in shared memory that lives as long as the test.
func ShmDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", filepath.Base(ShmPrefix()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func less(list, minus []string) []string {
	minus = slices.Clone(minus)
	var rest []string
	for _, s := range list {
		if i := slices.Index(minus, s); i >= 0 {
			minus = slices.Delete(minus, i, i+1)
		} else {
			rest = append(rest, s)
		}
	}
	return rest
}

// A Process is a helper that runs.
type Process struct {
	t     testing.TB
	Cmd   *exec.Cmd
	input io.WriteCloser
	lines *bufio.Reader
	done  bool
}

// Helper starts a helper with more variables in its environment. The test ends it.
func Helper(t testing.TB, name string, env []string, args ...string) *Process {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), helperVariable+"="+name), env...)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &Process{t: t, Cmd: cmd, input: input, lines: bufio.NewReader(output)}
	t.Cleanup(func() { p.Kill() })
	return p
}

// Line reads the next line that the helper prints; it is empty when there is no more.
func (p *Process) Line() string {
	line, _ := p.lines.ReadString('\n')
	return strings.TrimSuffix(line, "\n")
}

// Want fails the test unless the helper's next line is this one.
func (p *Process) Want(line string) {
	p.t.Helper()
	if got := p.Line(); got != line {
		p.t.Fatalf("helper printed %q, want %q", got, line)
	}
}

// End closes the helper's standard input, which asks it to end, and waits for that.
func (p *Process) End() {
	if !p.done {
		p.done = true
		p.input.Close()
		p.Cmd.Wait()
	}
}

// Kill ends the helper with SIGKILL and waits.
func (p *Process) Kill() {
	if !p.done {
		p.Cmd.Process.Kill()
		p.End()
	}
}

// UntilTold blocks a helper until [Process.End] or the end of the test's process.
func UntilTold() { io.Copy(io.Discard, os.Stdin) }

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A fakeHost is a directory that is all of PATH: the plain tools of the real host, and
// scripts in place of what scripts/setup looks for and runs.
type fakeHost struct {
	t   *testing.T
	bin string
}

func newFakeHost(t *testing.T, tools ...string) fakeHost {
	t.Helper()
	h := fakeHost{t, t.TempDir()}
	for _, tool := range append(tools, "sh", "head", "grep", "tr", "env", "cat", "touch", "chmod", "true") {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(h.bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// script puts an executable into PATH.
func (h fakeHost) script(name, body string) fakeHost {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.bin, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		h.t.Fatal(err)
	}
	return h
}

// setup runs scripts/setup and returns its exit status and what it printed.
func (h fakeHost) setup(args ...string) (int, string) {
	h.t.Helper()
	cmd := exec.Command("../../../scripts/setup", args...)
	cmd.Env = []string{"PATH=" + h.bin}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// installed gives the host everything that the tests need.
func (h fakeHost) installed() fakeHost {
	for _, name := range []string{"qemu-system-x86_64", "qemu-img", "busybox", "cpio", "strace", "gcc", "python3"} {
		h.script(name, "")
	}
	return h
}

// aptGet records its calls in a file "calls" and, told to install, puts every
// program into PATH.
func (h fakeHost) aptGet() fakeHost {
	h.script("apt-get", `echo "$*" >>`+h.bin+`/calls
case "$*" in
*install*) for c in qemu-system-x86_64 qemu-img busybox cpio strace gcc python3; do touch `+h.bin+`/$c; chmod 755 `+h.bin+`/$c; done ;;
esac`)
	return h
}

func (h fakeHost) calls() []string {
	data, _ := os.ReadFile(filepath.Join(h.bin, "calls"))
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func TestSetupDoesNothingWhereAllIsThere(t *testing.T) {
	h := newFakeHost(t).installed().script("apt-get", "exit 1").script("id", "exit 1")
	if code, out := h.setup(); code != 0 || out != "" {
		t.Errorf("setup = %d, %q, want 0 and nothing said", code, out)
	}
}

func TestSetupInstallsWhatIsMissing(t *testing.T) {
	h := newFakeHost(t).script("id", "echo 0").script("cpio", "").aptGet()
	if code, out := h.setup(); code != 0 {
		t.Fatalf("setup = %d\n%s", code, out)
	}
	calls := h.calls()
	if len(calls) != 2 || !strings.Contains(calls[0], "update") {
		t.Fatalf("apt-get was called with %q, want update, then install", calls)
	}
	for _, want := range []string{"--no-install-recommends", " qemu-system-x86 ", " busybox-static ", " qemu-utils ", " strace ", " gcc ", " python3-venv"} {
		if !strings.Contains(calls[1], want) {
			t.Errorf("apt-get %q lacks %q", calls[1], want)
		}
	}
	if strings.Contains(calls[1], "cpio") {
		t.Errorf("apt-get %q installs what is there", calls[1])
	}
}

func TestSetupOfTheDemoNeedsLess(t *testing.T) {
	h := newFakeHost(t).script("id", "echo 0").aptGet()
	if code, out := h.setup("demo"); code != 0 {
		t.Fatalf("setup demo = %d\n%s", code, out)
	}
	if call := h.calls()[1]; strings.Contains(call, "strace") || strings.Contains(call, "qemu-utils") {
		t.Errorf("apt-get %q installs what only the tests need", call)
	}
}

func TestSetupUsesSudo(t *testing.T) {
	h := newFakeHost(t).installed().aptGet().script("id", "echo 1000").script("sudo", `shift; exec "$@"`)
	if err := os.Remove(filepath.Join(h.bin, "strace")); err != nil {
		t.Fatal(err)
	}
	if code, out := h.setup(); code != 0 || len(h.calls()) != 2 {
		t.Errorf("setup = %d, apt-get %q\n%s", code, h.calls(), out)
	}
}

func TestSetupSaysWhatItLacks(t *testing.T) {
	for name, h := range map[string]fakeHost{
		"not root":          newFakeHost(t).script("id", "echo 1000").aptGet(),
		"sudo asks":         newFakeHost(t).script("id", "echo 1000").script("sudo", "exit 1").aptGet(),
		"apt-get fails":     newFakeHost(t).script("id", "echo 0").script("apt-get", "exit 100"),
		"no apt-get at all": newFakeHost(t).script("id", "echo 0"),
	} {
		code, out := h.setup("demo")
		if code != 3 || !strings.Contains(out, "still missing: qemu-system-x86 busybox-static cpio") {
			t.Errorf("%s: setup = %d, want 3 and a list\n%s", name, code, out)
		}
	}
}

func TestSetupWantsAStaticBusyBox(t *testing.T) {
	h := newFakeHost(t).installed().script("apt-get", "exit 100").script("id", "echo 0")
	h.script("busybox", "# ELF interpreter: /lib64/ld-linux-x86-64.so.2")
	if code, out := h.setup("demo"); code != 3 || !strings.Contains(out, "still missing: busybox-static") {
		t.Errorf("setup = %d\n%s", code, out)
	}
}

func TestSetupWrongUsage(t *testing.T) {
	h := newFakeHost(t)
	for _, args := range [][]string{{"more"}, {"demo", "test"}} {
		if code, _ := h.setup(args...); code != 2 {
			t.Errorf("setup %q = %d, want 2", args, code)
		}
	}
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// effectsTopology needs everything that a run makes: images built by recipes, pools,
// region files, overlays, sockets.
const effectsTopology = `
-- node.yaml --
version: 1
imports: [vhosts/qemu.yaml]
machines:
  - id: m0
    count: 2
    vhost:
      use: vhost-x86
      memory: 64M
      params: {accel: tcg}
      image: {path: out/disk.img, format: raw, recipe: {size: 1M}}
      boot: {kernel: {path: out/kernel, recipe: {program: bin/make-kernel, inputs: [bin]}}}
    devices:
      - {kind: gem5-mi300x, params: {memory: separate}, regions: {vram: 16M}}
      - {id: lsi, kind: qemu-device, params: {device: lsi53c895a}, disks: [{id: d, path: out/scsi.img, recipe: {size: 1M}, format: raw, bus: scsi}]}
-- bin/make-kernel --
#!/bin/sh
echo kernel >"$COSIM_IMAGE"
-- bin/qemu-img --
#!/bin/sh
` + stubPrograms

// needTool ends a test that starts a program of the host: skipped with -short, failed
// where there is none.
func needTool(t *testing.T, name string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts " + name)
	}
	if _, err := exec.LookPath(name); err != nil {
		t.Fatal(err)
	}
}

// cosim run --dry-run starts nothing, and creates and changes nothing: not in the
// workspace, the home directory or the directory of temporary files, and the trace shows
// that it does not try to anywhere else. What it prints depends on nothing but its input.
//
// Requirements: P3, X4
func TestDryRunHasNoEffects(t *testing.T) {
	needTool(t, "strace")
	w := newWorkspace(t, effectsTopology)
	w.env = append(w.env, "PATH="+w.path("bin")+":"+binDir())
	trace := filepath.Join(t.TempDir(), "trace")
	before := mustSnapshot(t, filepath.Dir(w.dir))

	traced := w.command("run", "--dry-run", "node.yaml")
	cosim := traced.Path
	strace, _ := exec.LookPath("strace")
	traced.Path, traced.Args = strace, append([]string{"strace", "-f", "-qq", "-o", trace, cosim}, traced.Args[1:]...)
	first, err := traced.Output()
	if err != nil {
		t.Fatalf("cosim run --dry-run: %v", err)
	}
	second, _ := w.want(0, "run", "--dry-run", "node.yaml")
	if string(first) != second {
		t.Errorf("two runs print\n%s\nand\n%s", first, second)
	}
	if changes := before.changes(mustSnapshot(t, filepath.Dir(w.dir))); len(changes) > 0 {
		t.Errorf("files changed: %q", changes)
	}
	if shared := sharedFiles(w.dir); len(shared) > 0 {
		t.Errorf("made %q", shared)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range effects(string(text)) {
		t.Errorf("cosim run --dry-run: %s", call)
	}
}

// Calls that start a process or change a file, and those that open one for writing or
// reach out to another process.
var (
	changing = []string{
		"execve", "execveat", "fork", "vfork", "creat", "mknod", "mknodat", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat",
		"rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "truncate", "ftruncate", "fallocate",
		"chmod", "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat", "utimensat", "setxattr", "mount",
		"connect", "bind", "sendto", "sendmsg", "shm_open", "kill", "tkill", "pidfd_send_signal", "flock",
	}
	tracedCall = regexp.MustCompile(`^\d+ +([a-z0-9_]+)\((.*)$`)
	openFlags  = regexp.MustCompile(`O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_TMPFILE`)
	newProcess = regexp.MustCompile(`CLONE_THREAD`)
)

// effects lists the calls of a trace that have effects, but for the first execve, which
// is cosim's own.
func effects(trace string) []string {
	var list []string
	own := true
	for line := range strings.Lines(trace) {
		line = strings.TrimSuffix(line, "\n")
		call := tracedCall.FindStringSubmatch(line)
		if call == nil {
			continue
		}
		name, args := call[1], call[2]
		bad := slices.Contains(changing, name)
		switch name {
		case "execve":
			bad, own = !own, false
		case "open", "openat", "openat2":
			bad = openFlags.MatchString(args)
		case "clone", "clone3":
			bad = !newProcess.MatchString(args)
		case "tkill", "tgkill", "kill": // the Go runtime preempts its own threads
			bad = !strings.Contains(args, "SIGURG")
		}
		if bad {
			list = append(list, line)
		}
	}
	return list
}

// The trace is read right: it shows what a real run does.
func TestEffectsAreSeen(t *testing.T) {
	needTool(t, "strace")
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace")
	script := "mkdir " + dir + "/d; echo x >" + dir + "/d/f; rm " + dir + "/d/f; /bin/true"
	if out, err := exec.Command("strace", "-f", "-qq", "-o", trace, "/bin/sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Join(effects(string(text)), "\n")
	for _, want := range []string{"mkdir(", "O_CREAT", "unlinkat(", "execve(\"/bin/true\"", "clone("} {
		if !strings.Contains(list, want) && !(want == "clone(" && strings.Contains(list, "vfork(")) {
			t.Errorf("no %s in\n%s", want, list)
		}
	}
}

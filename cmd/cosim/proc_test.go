package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/cosim-go/cosim/runtime/plan"
)

// channelTopology has processes that open nothing themselves, joined by channels.
const channelTopology = `
-- two.yaml --
version: 1
kinds:
  sim: {role: vhost, program: sh, args: [-c, 'sleep 1000 & wait', sim, "{{attach}}"], env: {SIM_LOG: "{{log}}"}}
  nic:
    role: device
    program: sh
    args: [-c, 'sleep 1000 & wait', nic, "--fd={{fd}}", "", "two words\n$X"]
    channel: true
    attach: ["--device={{device.id}},fd={{fd}}"]
machines:
  - id: m0
    vhost: {kind: sim, memory: 1M, env: {B: "2", A: ""}}
    devices: [{id: nic, kind: nic, count: 3}, {id: plain, kind: other}]
  - {id: m1, vhost: {kind: sim, memory: 1M}}
`

// What runs is what the plan says: program, arguments, directory, environment and
// descriptors of each process; and plan.json is the plan that was read, byte for byte.
//
// Requirements: X3, P3
func TestProcessesAreThoseOfThePlan(t *testing.T) {
	w := newWorkspace(t, strings.Replace(channelTopology, "machines:", `  other: {role: device, program: sleep, args: ["1000"]}`+"\nmachines:", 1))
	p := w.runPlan("two.yaml")
	for i := range p.Launch.Processes {
		process := &p.Launch.Processes[i]
		pid := w.pid("two", process.ID)
		wantProcess(t, pid, process)
		if got, want := slices.Sorted(maps.Keys(descriptors(t, pid))), 3+len(process.FDs); len(got) != want || got[want-1] != want-1 {
			t.Errorf("%s has the descriptors %v, want 0 to %d", process.ID, got, want-1)
		}
	}
}

// The same for QEMU, which opens more by itself, but has nothing that belongs to cosim.
//
// Requirements: X3, X6
func TestQEMUIsStartedAsPlanned(t *testing.T) {
	t.Parallel()
	w := newEchoWorkspace(t, echoTopology)
	p := w.runPlan("echo.yaml")
	cosim := descriptors(t, w.state("echo").PID)
	for i := range p.Launch.Processes {
		process := &p.Launch.Processes[i]
		pid := w.pid("echo", process.ID)
		wantProcess(t, pid, process)
		for n, target := range descriptors(t, pid) {
			own := strings.HasPrefix(target, "anon_inode:") || strings.HasPrefix(target, "/dev/")
			if n > 2 && !own && slices.Contains(slices.Collect(maps.Values(cosim)), target) {
				t.Errorf("descriptor %d of %s, %s, is cosim's", n, process.ID, target)
			}
		}
	}
}

// runPlan plans a topology, runs the plan from a file until the test ends, and checks
// the session's record of it. SIGTERM ends it.
func (w *workspace) runPlan(topology string) *plan.Plan {
	w.t.Helper()
	text, _ := w.want(0, "run", "--dry-run", topology)
	w.write("plan.json", text)
	var p plan.Plan
	w.readJSON("", text, &p)
	cmd := w.command("run", "--plan", "plan.json")
	cmd.ExtraFiles = w.ownFiles() // which are none of the session's business
	session := startProcess(w.t, cmd)
	w.t.Cleanup(func() {
		session.signal(syscall.SIGTERM)
		if code := session.wait(); code != exitTerm {
			w.t.Errorf("cosim = %d after SIGTERM, want %d\n%s", code, exitTerm, session.stderr)
		}
	})
	for _, process := range p.Launch.Processes {
		session.await(process.ID + ": ready after ")
	}
	if got := w.read(".cosim/" + p.Launch.Session.Name + "/plan.json"); got != text {
		w.t.Errorf("plan.json is\n%s\nwant\n%s", got, text)
	}
	return &p
}

// ownFiles are files that cosim inherits from whoever starts it.
func (w *workspace) ownFiles() []*os.File {
	w.t.Helper()
	f, err := os.Open(w.path("plan.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { f.Close() })
	return []*os.File{f, f, f, f, f}
}

// wantProcess compares a running process with the plan.
func wantProcess(t *testing.T, pid int, p *plan.Process) {
	t.Helper()
	proc := fmt.Sprintf("/proc/%d/", pid)
	read := func(name string) []string {
		text, err := os.ReadFile(proc + name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	}
	if got, want := read("cmdline"), append([]string{p.Program}, p.Args...); !slices.Equal(got, want) {
		t.Errorf("%s runs %q, want %q", p.ID, got, want)
	}
	program, _ := filepath.EvalSymlinks(p.Program)
	if exe, err := os.Readlink(proc + "exe"); err != nil || exe != program {
		t.Errorf("%s executes %s, want %s", p.ID, exe, program)
	}
	if dir, err := os.Readlink(proc + "cwd"); err != nil || dir != p.Dir {
		t.Errorf("%s runs in %s, want %s", p.ID, dir, p.Dir)
	}
	environ := read("environ")
	for name, value := range p.Env {
		if !slices.Contains(environ, name+"="+value) {
			t.Errorf("%s has no %s=%s in its environment", p.ID, name, value)
		}
	}
	if !slices.Contains(environ, "COSIM_PROCESS="+p.ID) {
		t.Errorf("%s has no COSIM_PROCESS in its environment", p.ID)
	}
	fds := descriptors(t, pid)
	if fds[0] != "/dev/null" || !strings.HasPrefix(fds[1], "pipe:") || fds[1] != fds[2] {
		t.Errorf("%s has the standard descriptors %q", p.ID, []string{fds[0], fds[1], fds[2]})
	}
	for _, fd := range p.FDs {
		if !strings.HasPrefix(fds[fd.Number], "socket:") {
			t.Errorf("descriptor %d of %s is %q, want a socket", fd.Number, p.ID, fds[fd.Number])
		}
	}
}

// descriptors lists what a process has open.
func descriptors(t *testing.T, pid int) map[int]string {
	t.Helper()
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	fds := map[int]string{}
	for _, link := range links {
		n, err := strconv.Atoi(filepath.Base(link))
		target, err2 := os.Readlink(link)
		if err == nil && err2 == nil {
			fds[n] = target
		}
	}
	return fds
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// startSwitch starts a switch on the socket s, with more flags.
func (w *workspace) startSwitch(flags ...string) *process {
	w.t.Helper()
	p := w.start(append([]string{"relay", "switch", "--listen", "s"}, flags...)...)
	p.await(`listening on "s"`)
	return p
}

// startHost starts a host at the socket s, and waits until the switch has it under a name.
func (w *workspace) startHost(sw *process, name string, args ...string) *process {
	w.t.Helper()
	p := w.start(append([]string{"relay", "host", "--connect", "s"}, args...)...)
	sw.await(fmt.Sprintf("host %q: joined", name))
	return p
}

// call makes a call to its end.
func (w *workspace) call(args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	return w.cosim(append([]string{"relay", "call", "--connect", "s"}, args...)...)
}

// wantGone waits until no process has a text on its command line that came of this workspace's tests.
func (w *workspace) wantGone(what string) {
	w.t.Helper()
	err := poll(func() error {
		left := processes(func(environ, args [][]byte, _ string) bool {
			return contains(environ, "HOME="+w.home) && len(args) > 0 && strings.Contains(string(args[0]), what)
		})
		if len(left) > 0 {
			return fmt.Errorf("%q still run", left)
		}
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
}

// Policy and state are those of the files: when a host joins, and after SIGHUP.
//
// Requirements: PO1, ST1, ST2
func TestSwitchTellsHosts(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "-- policy --\np1\n-- state --\ns1\n")
	w.write("policy", "p1")
	w.write("state", "s1")
	sw := w.startSwitch("--host", "gpu=g", "--policy", "policy", "--policy-meta", "network=full", "--state", "gpu=state")
	host := w.start("relay", "host", "--connect", "g", "stub-one")
	sw.await(`host "gpu": policy sent: 2 bytes of "policy", network=full`)
	sw.await(`host "gpu": state sent: 2 bytes of "state"`)
	if code, _, stderr := w.call("cap:told", "--text", "media:=s1,p1"); code != 0 {
		t.Errorf("the call = %d, %s", code, stderr)
	}
	waits := w.start("relay", "call", "--connect", "s", "cap:told", "--text", "media:=s2,p2")
	waits.await("info: told s1,p1")
	w.write("policy", "p2")
	w.write("state", "s2")
	sw.signal(syscall.SIGHUP)
	if code := waits.wait(); code != 0 {
		t.Errorf("the call that waits for new ones = %d, %s", code, waits.stderr)
	}
	sw.await(`policy sent to all hosts: 2 bytes of "policy"`)

	sw.signal(syscall.SIGHUP)
	sw.await("SIGHUP: nothing has changed")
	if err := os.Remove(w.path("policy")); err != nil {
		t.Fatal(err)
	}
	sw.signal(syscall.SIGHUP)
	sw.await(`cannot read the policy "policy": file does not exist; the last one stays`)

	host.signal(syscall.SIGTERM)
	if code := host.wait(); code != exitTerm {
		t.Errorf("the host = %d", code)
	}
	sw.await(`host "gpu": lost: its socket was closed`)
	w.start("relay", "host", "--connect", "g", "stub-two")
	sw.await(`host "gpu": joined again`)
	if code, _, stderr := w.call("cap:told", "--text", "media:=s2,p2"); code != 0 {
		t.Errorf("the call to the next host = %d, %s", code, stderr)
	}
	sw.signal(syscall.SIGTERM)
	if code := sw.wait(); code != exitTerm {
		t.Errorf("the switch = %d", code)
	}
}

// A host that is killed leaves no cartridge, nor what that has started; its requests end, those of others go on, and it
// can come back.
//
// Requirements: C5, W3
func TestHostIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "")
	w.write("state", "")
	sw := w.startSwitch("--state", "host-2=state")
	host := w.startHost(sw, "host-1", "stub-one")
	code, stdout, stderr := w.call("cap:child")
	child, err := strconv.Atoi(strings.TrimSpace(stdout))
	if code != 0 || err != nil {
		t.Fatalf("the call = %d, %q, %s", code, stdout, stderr)
	}
	waits := w.start("relay", "call", "--connect", "s", "cap:wait")
	waits.await("info: waiting")
	w.startHost(sw, "host-2", "stub-two")
	other := w.start("relay", "call", "--connect", "s", "cap:told", "--cartridge", "stub-two", "--text", "media:=x,")
	other.await("info: told ,")
	guard := guardOf(t, host.Process.Pid)
	host.signal(syscall.SIGKILL)
	host.wait()
	if code := waits.wait(); code != exitFailed || !strings.Contains(waits.stderr.String(), "failed: MASTER_DIED (environment): ") {
		t.Errorf("the call = %d, %s", code, waits.stderr)
	}
	w.wantGone("stub-one")
	if err := poll(func() error { return notGone(child) }); err != nil {
		t.Errorf("what the cartridge has started: %v", err)
	}
	if err := poll(func() error { return notGone(guard) }); err != nil {
		t.Errorf("its guard: %v", err)
	}
	w.startHost(sw, "host-1", "stub-one")
	sw.await(`host "host-1": joined again`)
	if code, _, stderr := w.call("cap:stub-one"); code != 0 {
		t.Errorf("the call to the next host = %d, %s", code, stderr)
	}
	w.write("state", "x")
	sw.signal(syscall.SIGHUP)
	if code := other.wait(); code != 0 {
		t.Errorf("the call to the other host = %d, %s", code, other.stderr)
	}
}

// notGone returns an error while a process runs.
func notGone(pid int) error {
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || strings.Contains(string(state), ") Z ") {
		return nil
	}
	return fmt.Errorf("process %d runs: %s", pid, state)
}

// guardOf returns the process ID of the guard of a host.
func guardOf(t *testing.T, host int) int {
	t.Helper()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, _ := os.ReadFile(path)
		args, _ := os.ReadFile(filepath.Dir(path) + "/cmdline")
		_, rest, _ := strings.Cut(string(text), ") ") // state, parent
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == strconv.Itoa(host) && strings.HasPrefix(string(args), "cosim-guard\x00relay-host-") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			return pid
		}
	}
	t.Fatalf("process %d has no guard", host)
	return 0
}

// In order, too, nothing is left of what cartridges have started.
func TestHostSweeps(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "")
	sw := w.startSwitch()
	host := w.startHost(sw, "host-1", "stub-one")
	code, stdout, stderr := w.call("cap:child")
	child, err := strconv.Atoi(strings.TrimSpace(stdout))
	if code != 0 || err != nil {
		t.Fatalf("the call = %d, %q, %s", code, stdout, stderr)
	}
	host.signal(syscall.SIGINT)
	if code := host.wait(); code != exitInt || !strings.Contains(host.stderr.String(), "killed what cartridges left: 1 process\n") {
		t.Errorf("the host = %d, %s", code, host.stderr)
	}
	if err := poll(func() error { return notGone(child) }); err != nil {
		t.Error(err)
	}
}

// A second signal does not wait for a cartridge that does not leave.
func TestSecondSignalKillsCartridges(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "-- bin/stubborn --\n#!/bin/sh\n"+"trap '' TERM INT\nstub-one\nsleep 1000\n")
	sw := w.startSwitch()
	host := w.startHost(sw, "host-1", "./bin/stubborn")
	if code, _, stderr := w.call("cap:stub-one"); code != 0 {
		t.Fatalf("the call = %d, %s", code, stderr)
	}
	host.signal(syscall.SIGTERM)
	host.await("SIGTERM: ending; once more kills the cartridges at once")
	host.signal(syscall.SIGTERM)
	if code := host.wait(); code != exitTerm || !strings.Contains(host.stderr.String(), "SIGTERM: killed ") {
		t.Errorf("the host = %d, %s", code, host.stderr)
	}
	w.wantGone("sleep")
}

// A switch that is killed leaves its socket alone, which the next one takes over. A host with --retry is there again.
func TestSwitchIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "")
	sw := w.startSwitch()
	kept := w.startHost(sw, "host-1", "--retry", "stub-one")
	lost := w.startHost(sw, "host-2", "stub-two")
	waits := w.start("relay", "call", "--connect", "s", "cap:wait")
	waits.await("info: waiting")
	if code, _, stderr := w.cosim("relay", "switch", "--listen", "s"); code != exitRefused || !strings.Contains(stderr, `cannot listen on "s": somebody does already`) {
		t.Errorf("another switch = %d, %s", code, stderr)
	}
	sw.signal(syscall.SIGKILL)
	sw.wait()
	if code := waits.wait(); code != exitFailed || !strings.Contains(waits.stderr.String(), "failed: CONNECTION_LOST (environment): the connection to the switch was closed\n") {
		t.Errorf("the call = %d, %s", code, waits.stderr)
	}
	if code := lost.wait(); code != exitFailed || !strings.Contains(lost.stderr.String(), `the switch at "s" was lost: it closed the connection`) {
		t.Errorf("the host without --retry = %d, %s", code, lost.stderr)
	}
	w.wantGone("stub-two")
	kept.await(`no switch at "s": it closed the connection; trying again`)
	if code, _, stderr := w.call("cap:stub-one"); code != exitRefused || !strings.Contains(stderr, `cannot connect to "s": connection refused`) {
		t.Errorf("a call without a switch = %d, %s", code, stderr)
	}

	sw = w.startSwitch()
	sw.await(`host "host-1": joined`)
	if code, _, stderr := w.call("cap:stub-one"); code != 0 {
		t.Errorf("a call to the next switch = %d, %s", code, stderr)
	}
	kept.signal(syscall.SIGTERM)
	if code := kept.wait(); code != exitTerm {
		t.Errorf("the host with --retry = %d, %s", code, kept.stderr)
	}
	w.wantGone("stub-one")
	sw.signal(syscall.SIGTERM)
	sw.wait()
	if _, err := os.Lstat(w.path("s")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// A caller that is killed takes its request along, and nobody else's.
func TestCallerIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "")
	sw := w.startSwitch()
	host := w.startHost(sw, "host-1", "stub-one")
	killed := w.start("relay", "call", "--connect", "s", "cap:wait")
	killed.await("info: waiting")
	other := w.start("relay", "call", "--connect", "s", "cap:wait")
	other.await("info: waiting")
	killed.signal(syscall.SIGKILL)
	killed.wait()
	host.await("stub-one: no more waiting: aborted by the host: the caller has gone")
	err := poll(func() error {
		_, stdout, _ := w.cosim("relay", "status", "--connect", "s")
		if !strings.Contains(stdout, "; 1 request\n") {
			return fmt.Errorf("the status is\n%s", stdout)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	other.signal(syscall.SIGINT)
	if code := other.wait(); code != exitInt || !strings.Contains(other.stderr.String(), "cosim: call to \"cap:wait\" was cancelled by SIGINT\n") {
		t.Errorf("the other caller = %d, %s", code, other.stderr)
	}
	host.await("stub-one: no more waiting: Cancelled by user")
}

// A caller is told when its switch ends.
func TestSwitchEndsDuringCall(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "")
	sw := w.startSwitch()
	w.startHost(sw, "host-1", "stub-one")
	waits := w.start("relay", "call", "--connect", "s", "cap:wait")
	waits.await("info: waiting")
	sw.signal(syscall.SIGINT)
	if code := sw.wait(); code != exitInt {
		t.Errorf("the switch = %d, %s", code, sw.stderr)
	}
	if code := waits.wait(); code != exitFailed || !strings.Contains(waits.stderr.String(), "failed: ABORTED (environment): ") {
		t.Errorf("the call = %d, %s", code, waits.stderr)
	}
}

// Megabytes go through all processes, from a pipe and into one, as they are; and a reader that has enough ends the request.
func TestCallStreams(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "")
	sw := w.startSwitch()
	host := w.startHost(sw, "host-1", "stub-one")
	data := make([]byte, 8<<20)
	rand.NewChaCha8([32]byte{}).Read(data)
	cmd := w.command("relay", "call", "--connect", "s", "cap:echo", "--arg", "media:=-")
	cmd.Stdin = bytes.NewReader(data)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil || !bytes.Equal(out.Bytes(), data) {
		t.Errorf("%d bytes come back as %d: %v", len(data), out.Len(), err)
	}
	w.write("data", string(data))
	p := startProcess(t, shellIn(w, "cosim relay call --connect s cap:echo --arg media:=data | head -c 100 | wc -c; echo ended"))
	if code := p.wait(); code != 0 || strings.Join(strings.Fields(p.stdout.String()), " ") != "100 ended" || !strings.Contains(p.stderr.String(), "cosim: printing the output: broken pipe\n") {
		t.Errorf("the pipe = %d, %q, %s", code, p.stdout, p.stderr)
	}
	host.signal(syscall.SIGTERM)
	host.wait()
	if got := host.stderr.String(); strings.Contains(got, "died") || strings.Contains(got, "killed") {
		t.Errorf("the host says\n%s", got)
	}
}

// The time of a call is over also while its output takes nothing, and while the switch does not answer.
func TestCallStuckInTime(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "")
	sw := w.startSwitch()
	w.startHost(sw, "host-1", "stub-one")
	w.write("data", strings.Repeat("x", 8<<20))
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := w.command("relay", "call", "--connect", "s", "cap:echo", "--arg", "media:=data", "--timeout", "1s")
	cmd.Stdout = out
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Start()
	out.Close()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(stderr.String(), "no end within 1s") {
		t.Errorf("without a reader the call = %d, %s", code, &stderr)
	}
	p := w.start("relay", "call", "--connect", "s", "cap:wait", "--timeout", "3s")
	p.await("info: waiting")
	sw.signal(syscall.SIGSTOP)
	defer sw.signal(syscall.SIGCONT)
	if code := p.wait(); code != exitFailed || !strings.Contains(p.stderr.String(), "no end within 3s") {
		t.Errorf("with a switch that is stopped the call = %d, %s", code, p.stderr)
	}
}

// shellIn is a shell that runs a line in a workspace.
func shellIn(w *workspace, line string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), w.env...)
	return cmd
}

// On a terminal a line shows how far a call is, and nothing is left of it.
func TestCallInTerminal(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "")
	sw := w.startSwitch()
	w.startHost(sw, "host-1", "stub-one")
	x := w.inTerminal(100, 24, "relay", "call", "--connect", "s", "cap:wait", "--text", "media:=four")
	x.await(`^info: waiting`)
	if !poll1(func() bool { return strings.Contains(x.output.String(), "25% [######------------------]") }) {
		t.Errorf("the terminal shows %q", x.output)
	}
	x.press("\x03")
	x.await(`^cosim: cancelling; once more does not wait for the end`)
	if code := x.wait(); code != exitInt {
		t.Errorf("the call = %d", code)
	}
	if out := x.output.String(); !strings.Contains(out, "sent 4 B of 4 B") || !strings.Contains(out, "\r\x1b[Kcosim: cancelling") || !strings.HasSuffix(out, "cosim: call to \"cap:wait\" was cancelled by SIGINT\r\n") {
		t.Errorf("the terminal shows %q", out)
	}
}

// poll1 looks until what it looks for is so.
func poll1(look func() bool) bool {
	return poll(func() error {
		if !look() {
			return errors.New("not yet")
		}
		return nil
	}) == nil
}

package main

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
)

// An end is one row of the table of ends: who ends how and when, and what becomes of
// the command.
type end struct {
	who, how, when string
	code           int
	says           string // of the summary
}

// The ends of processes that are shell scripts: a device, and a vhost of a template kind.
// The other process of the row goes on until it is told to stop.
var scriptEnds = []end{
	{"device", "exit 0", "before", exitFailed, `cosim: device "d" (nic) exited with status 0 after TIME, before it was ready`},
	{"device", "exit 1", "before", exitFailed, `cosim: device "d" (nic) exited with status 1 after TIME, before it was ready`},
	{"device", "kill -KILL $$", "before", exitFailed, `cosim: device "d" (nic) was killed by signal 9 (SIGKILL) after TIME, before it was ready`},
	{"device", "exit 0", "after", exitFailed, `cosim: device "d" (nic) exited with status 0 after TIME, while its vhost went on`},
	{"device", "exit 1", "after", exitFailed, `cosim: device "d" (nic) exited with status 1 after TIME`},
	{"device", "kill -SEGV $$", "after", exitFailed, `cosim: device "d" (nic) was killed by signal 11 (SIGSEGV) after TIME`},

	{"template vhost", "exit 0", "before", exitFailed, `cosim: vhost of machine "m" (sim) exited with status 0 after TIME, before it was ready`},
	{"template vhost", "exit 1", "before", exitFailed, `cosim: vhost of machine "m" (sim) exited with status 1 after TIME, before it was ready`},
	{"template vhost", "kill -KILL $$", "before", exitFailed, `cosim: vhost of machine "m" (sim) was killed by signal 9 (SIGKILL) after TIME, before it was ready`},
	{"template vhost", "exit 0", "after", 0, `cosim: session "ends" ended well after TIME`},
	{"template vhost", "exit 1", "after", exitFailed, `cosim: vhost of machine "m" (sim) exited with status 1 after TIME`},
	{"template vhost", "kill -KILL $$", "after", exitFailed, `cosim: vhost of machine "m" (sim) was killed by signal 9 (SIGKILL) after TIME`},
}

func (e end) name() string { return e.who + " ends by " + e.how + " " + e.when + " it is ready" }

// Requirements: X3, X5
func TestEndsOfScripts(t *testing.T) {
	for _, e := range scriptEnds {
		t.Run(e.name(), func(t *testing.T) {
			t.Parallel()
			const goOn = "echo up; exec sleep 1000"
			script := "echo bye; " + e.how
			if e.when == "after" {
				script = "echo up; while [ ! -e go ]; do sleep 0.01; done; echo bye; " + e.how
			}
			device, vhost := script, goOn
			if e.who == "template vhost" {
				device, vhost = goOn, script
			}
			w := newWorkspace(t, fmt.Sprintf(`
-- ends.yaml --
version: 1
kinds:
  sim: {role: vhost, program: sh, args: [-c, %q], ready: {log: ^up$}}
  nic: {role: device, program: sh, args: [-c, %q], ready: {log: ^up$}, stop: {grace: 100ms}}
machines:
  - {id: m, vhost: {kind: sim, memory: 1M}, devices: [{id: d, kind: nic}]}
`, vhost, device))
			p := w.start("run", "ends.yaml")
			if e.when == "after" {
				p.await("m/vhost: ready after ")
				w.write("go", "")
			}
			e.check(w, p)
		})
	}
}

// check compares how a session ended with the row.
func (e end) check(w *workspace, p *process) {
	w.t.Helper()
	code, text := p.wait(), w.plain(p.stderr.String())
	if code != e.code || !strings.Contains(text, e.says+"\n") {
		w.t.Errorf("cosim = %d, want %d and %q\n%s", code, e.code, e.says, text)
	}
	state := w.state("ends")
	if state.ExitCode == nil || *state.ExitCode != e.code || state.Phase != "ended" {
		w.t.Errorf("session.json tells of %+v", state)
	}
}

// The ends of a real QEMU as vhost, with a guest that does what it is told by its
// serial line.
var qemuEnds = []struct {
	end
	args string                            // of the vhost
	act  func(*testing.T, *workspace, int) // makes the vhost of that pid end
}{
	{end{"vhost", "-version", "before", exitFailed, `cosim: vhost of machine "m0" (qemu-vhost) exited with status 0 after TIME, before it was ready`}, "-version", nil},
	{end{"vhost", "a wrong argument", "before", exitFailed, `cosim: vhost of machine "m0" (qemu-vhost) exited with status 1 after TIME, before it was ready`}, "-no-such-option", nil},
	{end{"vhost", "SIGKILL", "before", exitFailed, `cosim: vhost of machine "m0" (qemu-vhost) was killed by signal 9 (SIGKILL) after TIME, before it was ready`},
		"-chardev, 'socket,id=late,path=../late.sock,server=on,wait=on'", killVhost},
	{end{"vhost", "power-off", "after", 0, `cosim: session "ends" ended well after TIME`}, "", typeKey(".")},
	{end{"vhost", "quit", "after", 0, `cosim: session "ends" ended well after TIME`}, "", quitVhost},
	{end{"vhost", "exit status 1", "after", exitFailed, `cosim: vhost of machine "m0" (qemu-vhost) exited with status 1 after TIME`}, "", typeKey("!")},
	{end{"vhost", "SIGKILL", "after", exitFailed, `cosim: vhost of machine "m0" (qemu-vhost) was killed by signal 9 (SIGKILL) after TIME`}, "", killVhost},
}

// Requirements: X3, X5
func TestEndsOfQEMU(t *testing.T) {
	for _, e := range qemuEnds {
		t.Run(e.name(), func(t *testing.T) {
			t.Parallel()
			args := `args: [-device, "isa-debug-exit,iobase=0x501,iosize=1"`
			topology := strings.Replace(echoTopology, args, args+", "+e.args, 1)
			w := newEchoWorkspace(t, strings.Replace(topology, "echo.yaml", "ends.yaml", 1))
			p := w.start("run", "ends.yaml")
			if e.when == "after" {
				p.await("m0/vhost: ready after ")
			}
			if e.act != nil {
				e.act(t, w, w.pid("ends", "m0/vhost"))
			}
			e.check(w, p)
			if strings.Contains(p.stderr.String(), "cosim: device") {
				t.Errorf("the device that followed its vhost is reported as what failed:\n%s", p.stderr)
			}
		})
	}
}

func killVhost(t *testing.T, _ *workspace, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

func quitVhost(t *testing.T, w *workspace, _ int) {
	t.Helper()
	if _, err := w.monitor(w.path(".cosim/ends/m0/qmp.sock")).Execute(t.Context(), "quit", nil); err != nil {
		t.Error(err)
	}
}

// typeKey types a key on the guest's serial line once the guest listens.
func typeKey(key string) func(*testing.T, *workspace, int) {
	return func(t *testing.T, w *workspace, _ int) {
		t.Helper()
		conn, err := net.Dial("unix", w.path(".cosim/ends/m0/serial.sock"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() }) // QEMU drops what it has not read when it ends
		err = poll(func() error {
			if text := w.read(".cosim/ends/m0/serial.log"); !strings.Contains(text, "echo\r\n") {
				return fmt.Errorf("the serial log holds %q", text)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(key)); err != nil {
			t.Error(err)
		}
	}
}

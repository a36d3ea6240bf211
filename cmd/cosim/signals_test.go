package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// sleepers is a machine whose processes go on until they are stopped; those of a
// stubborn kind do not obey, and have an hour to do so.
const sleepers = `
-- two.yaml --
version: 1
kinds:
  sim: {role: vhost, program: sh, args: [-c, "echo up; exec sleep 1000"], ready: {log: ^up$}}
  stubborn: {role: vhost, program: sh, args: [-c, "trap '' TERM INT; echo up; while :; do sleep 1000; done"], ready: {log: ^up$}, stop: {grace: 1h}}
  nic: {role: device, program: sh, args: [-c, "echo up; while [ ! -e fail ]; do sleep 0.01; done; exit 1"], ready: {log: ^up$}}
machines:
  - {id: m, vhost: {kind: sim, memory: 1M}, devices: [{id: d, kind: nic}]}
`

// A signal ends the session in order, with 128 and its number.
//
// Requirement: X5
func TestSignalsEndTheSession(t *testing.T) {
	for signal, code := range map[syscall.Signal]int{syscall.SIGINT: exitInt, syscall.SIGTERM: exitTerm, syscall.SIGHUP: 129} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, sleepers)
			p := w.start("run", "two.yaml")
			p.await("m/vhost: ready after ")
			p.signal(signal)
			got, text := p.wait(), w.plain(p.stderr.String())
			if got != code {
				t.Errorf("cosim = %d, want %d\n%s", got, code, text)
			}
			host, device := strings.Index(text, "m/vhost: was killed by signal 15"), strings.Index(text, "m/d: stopping")
			if host < 0 || device < host {
				t.Errorf("the devices are not stopped after the hosts:\n%s", text)
			}
			if state := w.state("two"); state.ExitCode == nil || *state.ExitCode != code {
				t.Errorf("session.json tells of %+v", state)
			}
		})
	}
}

// The end of the grace would come after an hour.
func TestSecondSignalKillsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, strings.Replace(sleepers, "kind: sim", "kind: stubborn", 1))
	p := w.start("run", "two.yaml")
	p.await("m/vhost: ready after ")
	p.signal(syscall.SIGINT)
	p.await("m/vhost: stopping")
	p.signal(syscall.SIGINT)
	code, text := p.wait(), w.plain(p.stderr.String())
	if code != exitInt || !strings.Contains(text, "m/vhost: was killed by signal 9 (SIGKILL)") {
		t.Errorf("cosim = %d, want %d\n%s", code, exitInt, text)
	}
}

// What failed first stays the reason, whatever the user does then.
func TestSignalAfterAFailure(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, strings.Replace(sleepers, "kind: sim", "kind: stubborn", 1))
	p := w.start("run", "two.yaml")
	p.await("m/vhost: ready after ")
	w.write("fail", "")
	p.await("m/vhost: stopping")
	p.signal(syscall.SIGINT)
	p.await("once more kills it at once")
	p.signal(syscall.SIGINT)
	code, text := p.wait(), w.plain(p.stderr.String())
	want := `cosim: device "d" (nic) exited with status 1 after TIME`
	if code != exitFailed || !strings.Contains(text, want+"\n") {
		t.Errorf("cosim = %d, want %d and %q\n%s", code, exitFailed, want, text)
	}
}

// A session can be ended before it runs: while a device starts, and while an image is
// built. What it made until then is removed; session.json tells what runs meanwhile.
func TestSignalBeforeTheSessionRuns(t *testing.T) {
	for name, part := range map[string]struct{ from, to, await, says string }{
		"while a device starts": {"ready: {log: ^up$}}\nmachines", "ready: {log: ^never$}}\nmachines", "m/d: starting", "m/d: was killed by signal 15"},
		"while an image is built": {"kind: sim, memory: 1M", `kind: sim, memory: 1M, boot: {kernel: {path: out/kernel, recipe: {program: sh, args: [-c, "sleep 1000"]}}}`,
			"image ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t, strings.Replace(sleepers, part.from, part.to, 1))
			p := w.start("run", "two.yaml")
			p.await(part.await)
			if part.says != "" {
				w.pid("two", "m/d")
			}
			p.signal(syscall.SIGTERM)
			code, text := p.wait(), w.plain(p.stderr.String())
			if code != exitTerm || !strings.Contains(text, part.says) {
				t.Errorf("cosim = %d, want %d and %q\n%s", code, exitTerm, part.says, text)
			}
			if state := w.state("two"); state.ExitCode == nil || *state.ExitCode != exitTerm {
				t.Errorf("session.json tells of %+v", state)
			}
		})
	}
}

// A cosim that was killed leaves nothing that runs, and what else it left goes with the
// next run or with clean.
//
// Requirement: X5
func TestAfterCosimWasKilled(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, sleepers)
	crash := func() {
		t.Helper()
		p := w.start("run", "two.yaml")
		p.await("m/vhost: ready after ")
		p.signal(syscall.SIGKILL)
		p.wait()
		err := poll(func() error {
			if left := markedProcesses(func(mark string) bool { return ofWorkspace(mark, w.dir) }); len(left) > 0 {
				return fmt.Errorf("%q still run", left)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if shared := sharedFiles(w.dir); len(shared) != 1 {
			t.Fatalf("a killed cosim leaves %q, want its pool directory", shared)
		}
	}
	crash()
	stdout, _ := w.want(0, "clean", "two")
	if !strings.Contains(w.plain(stdout), "removed /dev/shm/cosim-two-HASH/m.pool\n") {
		t.Errorf("cosim clean says\n%s", stdout)
	}
	wantNothingLeft(t, w.dir)

	crash()
	p := w.start("run", "two.yaml")
	p.await("m/vhost: ready after ")
	if want := "cosim: removed what the session before left: /dev/shm/cosim-two-HASH/m.pool\n"; !strings.Contains(w.plain(p.stderr.String()), want) {
		t.Errorf("cosim run does not say %q:\n%s", want, p.stderr)
	}
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitTerm {
		t.Errorf("cosim = %d, want %d", code, exitTerm)
	}
}

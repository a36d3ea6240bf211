package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A bench is a workspace in which the tests run the demo with the real cosim and QEMU.
// The kernel and the guest's files are built in it once.
type bench struct {
	dir, cosim, image string
}

var shared bench

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.dir != "" {
		os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// newBench makes the workspace: the examples of this repository, build/ of its own,
// and cosim with its built-in library.
func newBench(t *testing.T) bench {
	t.Helper()
	if testing.Short() {
		t.Skip("runs QEMU")
	}
	if shared.dir != "" {
		return shared
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pci-dma-")
	if err != nil {
		t.Fatal(err)
	}
	b := bench{dir: dir, cosim: filepath.Join(dir, "cosim"), image: filepath.Join(dir, "build/pci-dma/disk.img")}
	if err := os.Symlink(filepath.Join(root, "examples"), filepath.Join(dir, "examples")); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", b.cosim, ".")
	build.Dir = filepath.Join(root, "cmd/cosim")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building cosim: %v\n%s", err, out)
	}
	if os.Getenv("COSIM_CACHE") == "" {
		os.Setenv("COSIM_CACHE", filepath.Join(root, "build/cache"))
	}
	shared = b
	return b
}

// A session is one run of the demo.
type session struct {
	bench
	t    *testing.T
	name string
}

// newSession prepares a disk image for one run under a name of its own. At the end of
// the test nothing of it may be left.
func newSession(t *testing.T, prepare ...string) session {
	t.Helper()
	s := session{newBench(t), t, "demo-" + randomHex()}
	if err := run(append(append([]string{"prepare"}, prepare...), s.image), io.Discard); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left := s.leftovers(); len(left) > 0 {
			t.Errorf("the session left %q", left)
			s.command("clean", s.name).Run()
		}
	})
	return s
}

func randomHex() string {
	var b [4]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func (s session) runDir() string { return filepath.Join(s.dir, ".cosim", s.name) }

func (s session) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.cosim, args...)
	cmd.Dir = s.dir
	return cmd
}

func (s session) runCommand(args ...string) *exec.Cmd {
	return s.command(append(append([]string{"run", "--name", s.name}, args...), "examples/pci-dma/topology.yaml")...)
}

// run runs the demo and returns cosim's exit code and what it printed.
func (s session) run(args ...string) (int, string) {
	s.t.Helper()
	cmd := s.runCommand(args...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// serial is what the guest printed.
func (s session) serial() string {
	data, err := os.ReadFile(filepath.Join(s.runDir(), "m0/serial.log"))
	if err != nil {
		s.t.Error(err)
	}
	return string(data)
}

// leftovers lists the processes, pools and sockets of the session.
func (s session) leftovers() []string {
	left, _ := filepath.Glob("/dev/shm/cosim-" + s.name + "-*")
	filepath.WalkDir(s.runDir(), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type()&fs.ModeSocket != 0 {
			left = append(left, path)
		}
		return nil
	})
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		if env, err := os.ReadFile(path); err == nil && bytes.Contains(env, []byte("COSIM_SESSION="+s.name+"-")) {
			left = append(left, filepath.Dir(path))
		}
	}
	return left
}

// The demo, and what the check outside makes of one changed byte.
//
// Requirements: P3, L1, L4, X5, X6
func TestDemo(t *testing.T) {
	s := newSession(t)
	code, out := s.run("--keep")
	if code != 0 {
		t.Fatalf("cosim run = %d, want 0\n%s", code, out)
	}
	for _, want := range []string{"PASS nvme-read", "PASS register-echo", "PASS dma", "PASS nvme-write", "VERDICT: PASS"} {
		if !strings.Contains(s.serial(), want) {
			t.Errorf("the guest did not print %q:\n%s", want, s.serial())
		}
	}
	var report bytes.Buffer
	if err := run([]string{"verify", s.runDir(), s.image}, &report); err != nil {
		t.Errorf("verify = %v\n%s", err, &report)
	}
	if err := run([]string{"flip", s.runDir(), s.image}, io.Discard); err != nil {
		t.Fatal(err)
	}
	report.Reset()
	if err := run([]string{"verify", s.runDir(), s.image}, &report); err == nil || !strings.Contains(report.String(), "FAIL pool") {
		t.Errorf("verify of a flipped byte = %v\n%s", err, &report)
	}
	if out, err := s.command("clean", s.name).CombinedOutput(); err != nil {
		t.Errorf("cosim clean: %v\n%s", err, out)
	}
}

func TestGuestThatExpectsAnotherBlock(t *testing.T) {
	s := newSession(t, "--expect-other")
	code, out := s.run()
	if code != 4 || !strings.Contains(out, "VERDICT: FAIL") {
		t.Errorf("cosim run = %d, want 4 and the verdict\n%s", code, out)
	}
	if !strings.Contains(s.serial(), "FAIL nvme-read") {
		t.Errorf("the guest printed:\n%s", s.serial())
	}
}

func TestGuestThatPanics(t *testing.T) {
	s := newSession(t, "--panic")
	code, out := s.run()
	if code != 4 || !strings.Contains(out, "Kernel panic") {
		t.Errorf("cosim run = %d, want 4 and the guest's last words\n%s", code, out)
	}
}

func TestDeviceKilledDuringDMA(t *testing.T) {
	s := newSession(t, "--rounds", "400") // more than half a minute of DMA
	cmd := s.runCommand("--console", "m0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	console, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // where the test stopped early
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	var killed time.Time
	lines := bufio.NewScanner(console)
	for lines.Scan() {
		if killed.IsZero() && strings.Contains(lines.Text(), "DMA starts") {
			if err := syscall.Kill(s.pid("m0/lsi"), syscall.SIGKILL); err != nil {
				t.Errorf("killing the device: %v", err)
			}
			killed = time.Now()
		}
	}
	cmd.Wait()
	took := time.Since(killed)
	if killed.IsZero() {
		t.Fatalf("the guest never started its DMA\n%s", &stderr)
	}
	if code := cmd.ProcessState.ExitCode(); code != 4 || !strings.Contains(stderr.String(), "lsi") {
		t.Errorf("cosim run = %d, want 4 and the device's name\n%s", code, &stderr)
	}
	if took > 2*time.Second { // what users are promised, not a measure of speed
		t.Errorf("the session ended %v after its device", took)
	}
}

// pid finds a process of the session in session.json.
func (s session) pid(id string) int {
	data, err := os.ReadFile(filepath.Join(s.runDir(), "session.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var state struct {
		Processes []struct {
			ID  string `json:"id"`
			PID int    `json:"pid"`
		} `json:"processes"`
	}
	if err := json.Unmarshal(data, &state); err != nil {
		s.t.Fatal(err)
	}
	for _, p := range state.Processes {
		if p.ID == id && p.PID > 0 {
			return p.PID
		}
	}
	s.t.Fatalf("session.json has no running %s:\n%s", id, data)
	return 0
}

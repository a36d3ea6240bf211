package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test binary be the program: the tests run real processes.
func TestMain(m *testing.M) {
	if os.Getenv("LOOPBACK_PROGRAM") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func program(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "LOOPBACK_PROGRAM=1")
	return cmd
}

// The pool of the tests: guest memory, then a window for each of two devices.
const (
	testPool    = 6 << 20
	testMemory  = "0:4194304"
	testWindow0 = "4194304:1048576"
	testWindow1 = "5242880:1048576"
)

func newPool(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m0.pool")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, testPool); err != nil {
		t.Fatal(err)
	}
	return path
}

// startDevice starts a device process and returns its socket once it listens. The
// test fails unless the device ends by itself, with exit status 0.
func startDevice(t *testing.T, pool, window string, args ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "loopback") // short enough for a socket path
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "d,0.sock")
	cmd := program(append([]string{"device", "--pool=" + pool, "--memory=" + testMemory, "--window=" + window, "--socket=" + socket}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Wait(); err != nil {
			t.Errorf("device: %v", err)
		}
		if err := os.Remove(dir); err != nil { // and the socket is gone
			t.Error(err)
		}
	})
	line := make([]byte, len("listening\n"))
	if _, err := io.ReadFull(out, line); err != nil {
		t.Fatal(err)
	}
	return socket
}

// runPair runs a host with two devices, of which the second has more arguments, and
// returns what the host printed and how it ended.
func runPair(t *testing.T, args ...string) (string, error) {
	t.Helper()
	pool := newPool(t)
	s0 := startDevice(t, pool, testWindow0)
	s1 := startDevice(t, pool, testWindow1, args...)
	out, err := program("host", "--pool="+pool, "--memory="+testMemory, "--rounds=3",
		"--device=lo0,"+testWindow0+","+s0, "--device=lo1,"+testWindow1+","+s1).Output()
	return string(out), err
}

func TestPairPasses(t *testing.T) {
	out, err := runPair(t)
	if err != nil {
		t.Fatalf("host: %v\n%s", err, out)
	}
	if n := strings.Count(out, "PASS lo"); n != 6 || !strings.HasSuffix(out, "\nVERDICT: PASS\n") {
		t.Errorf("host printed %d rounds, want 6 and a verdict:\n%s", n, out)
	}
}

func TestSpoiltByteFails(t *testing.T) {
	out, err := runPair(t, "--spoil")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("host ended with %v, want exit status 1", err)
	}
	if !strings.Contains(out, "FAIL lo1: round 1: the window does not hold") || !strings.HasSuffix(out, "\nVERDICT: FAIL\n") {
		t.Errorf("host printed:\n%s", out)
	}
	if !strings.Contains(out, "PASS lo0: round 3") {
		t.Errorf("the other device did not finish:\n%s", out)
	}
}

func TestHostJudges(t *testing.T) {
	h := host{memory: make([]byte, 8192), rounds: 1, out: io.Discard}
	window := make([]byte, 4096)
	d := device{memory: h.memory, window: window}
	q := h.newRequest(len(window))
	good := d.answer(q)
	if err := h.judge(q, good, window); err != nil {
		t.Errorf("judge of the right reply = %v", err)
	}
	if err := h.judge(q, reply{SHA256: make([]byte, 32)}, window); err == nil {
		t.Error("judge accepts the digest of other data")
	}
	if err := h.judge(q, reply{Error: "no"}, window); err == nil {
		t.Error("judge accepts an error")
	}
	if err := h.judge(q, good, make([]byte, 4096)); err == nil {
		t.Error("judge accepts an empty window")
	}
}

func TestRequestsDiffer(t *testing.T) {
	h := host{memory: make([]byte, 8192)}
	a, b := h.newRequest(4096), h.newRequest(4096)
	if bytes.Equal(a.Key, b.Key) {
		t.Error("two requests have the same key")
	}
}

func TestDeviceRefuses(t *testing.T) {
	d := device{memory: make([]byte, 4096), window: make([]byte, 1024)}
	for name, q := range map[string]request{
		"beyond memory":   {Offset: 4000, Size: 100, Key: []byte{1}},
		"huge offset":     {Offset: 1<<63 - 1, Size: 100, Key: []byte{1}},
		"negative offset": {Offset: -1, Size: 100, Key: []byte{1}},
		"negative size":   {Offset: 0, Size: -1, Key: []byte{1}},
		"beyond window":   {Offset: 0, Size: 1025, Key: []byte{1}},
		"no key":          {Offset: 0, Size: 10},
	} {
		if r := d.answer(q); r.Error == "" {
			t.Errorf("%s: answer(%+v) is no error", name, q)
		}
	}
}

func TestMapRegionStaysInsideThePool(t *testing.T) {
	pool := newPool(t)
	for _, r := range []region{{testPool, 4096}, {testPool - 4096, 8192}, {1 << 62, 4096}} {
		if _, err := mapRegion(pool, r); err == nil {
			t.Errorf("mapRegion(%s) = nil error", &r)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"guest"}, {"host"}, {"host", "--rounds=0", "--device=a,0:1,s"}, {"host", "--device=a"},
		{"host", "--device=a,1,s"}, {"host", "--device=a,0:0,s"}, {"device", "--window=-1:5"}, {"device", "more"},
	} {
		if err := run(args); !errors.Is(err, errUsage) {
			t.Errorf("run(%q) = %v, want wrong usage", args, err)
		}
	}
}

// Package interop holds the tests of this relay against the published Python package capdag.
// It has no code of its own. The programs of testdata are the other side: capdag_peer.py is its
// codec, slave and master, the others are its switch, host and cartridge.
//
// Two releases are the peers: the last one that speaks version 4 of the protocol, and the
// newest, which speaks version 6 and knows POLICY. scripts/peers makes a Python for each in
// build, or an environment variable names one. A test that needs one and does not find it
// fails; only go test -short skips it.
package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The environment variables that name a Python with the package.
const (
	envV4     = "COSIM_CAPDAG_V4_PYTHON"
	envNewest = "COSIM_CAPDAG_PYTHON"
)

// envParent tells a program of testdata the id of this process, with which it ends in any case.
const envParent = "COSIM_INTEROP_PARENT"

// built says where scripts/peers makes it.
var built = map[string]string{
	envV4:     "../../build/capdag-v4/bin/python",
	envNewest: "../../build/capdag/bin/python",
}

// A peer is a release of the package.
type peer struct {
	python string
	facts  facts
}

// facts is what the package says of the protocol.
type facts struct {
	Package      string
	Version      int
	HardMaxFrame int            `json:"hard_max_frame"`
	Limits       map[string]int `json:"limits"`
	Keys         map[string]int
	Types        map[string]struct {
		Number         int
		Flow, Terminal bool
	}
}

// knowsPolicy reports whether the release has POLICY, which came with version 6.
func (p *peer) knowsPolicy() bool {
	_, ok := p.facts.Types["policy"]
	return ok
}

// eachPeer runs a test against each release, both at once.
func eachPeer(t *testing.T, test func(t *testing.T, p *peer)) {
	t.Helper()
	for _, release := range []struct{ name, env string }{{"v4", envV4}, {"newest", envNewest}} {
		t.Run(release.name, func(t *testing.T) {
			t.Parallel()
			test(t, findPeer(t, release.env))
		})
	}
}

// findPeer returns the release that an environment variable names, or that scripts/peers made.
func findPeer(t *testing.T, env string) *peer {
	t.Helper()
	peers.Lock()
	defer peers.Unlock()
	if p, asked := peers.known[env]; asked {
		return p
	}
	p := &peer{python: pythonOf(t, env)}
	out := p.run(t, nil, "facts")
	require.NoError(t, json.Unmarshal(out, &p.facts), "facts: %s", out)
	peers.known[env] = p
	return p
}

// peers are the releases whose facts are known, so that each is asked once.
var peers = struct {
	sync.Mutex
	known map[string]*peer
}{known: map[string]*peer{}}

func pythonOf(t *testing.T, env string) string {
	t.Helper()
	python := os.Getenv(env)
	if python == "" {
		python = built[env]
	}
	path, err := filepath.Abs(python)
	require.NoError(t, err)
	if _, err := os.Stat(path); err != nil {
		text := fmt.Sprintf("%v; %s names a Python with the package capdag, scripts/peers makes one", err, env)
		if testing.Short() && os.Getenv(env) == "" {
			t.Skip(text)
		}
		require.FailNow(t, text)
	}
	return path
}

// command returns a peer's program of testdata, not started, in a mode and with arguments.
func (p *peer) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return p.program(t, "capdag_peer.py", args...)
}

// program returns a program of testdata, not started. It is killed when the test ends, and
// after two minutes, which ends what waits for it; what it says on standard error goes into the
// test's log where the test fails.
func (p *peer) program(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, p.python, append([]string{filepath.Join("testdata", name)}, args...)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", envParent, os.Getpid()))
	stderr := new(spoken)
	cmd.Stderr = stderr
	t.Cleanup(func() {
		if text := stderr.String(); t.Failed() && text != "" {
			t.Logf("%s %v: %s", name, args, text)
		}
	})
	return cmd
}

// spoken keeps what a process says while it runs.
type spoken struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// run runs the peer's program to its end, which has to be a good one, and returns its output.
func (p *peer) run(t *testing.T, stdin io.Reader, args ...string) []byte {
	t.Helper()
	cmd := p.command(t, args...)
	cmd.Stdin = stdin
	out, err := cmd.Output()
	require.NoError(t, err, "peer %v", args)
	return out
}

// Package interop holds the tests of this relay against the published Python package capdag.
// It has no code of its own. testdata/capdag_peer.py is the other side.
//
// Two releases are the peers: the last one that speaks version 4 of the protocol, and the
// newest, which speaks version 6 and knows POLICY. scripts/peers makes a Python for each;
// without one, what needs it is skipped.
package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
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

// eachPeer runs a test against each release.
func eachPeer(t *testing.T, test func(t *testing.T, p *peer)) {
	t.Helper()
	t.Run("v4", func(t *testing.T) { test(t, findPeer(t, envV4)) })
	t.Run("newest", func(t *testing.T) { test(t, findPeer(t, envNewest)) })
}

// findPeer returns the release that an environment variable names, and skips the test where
// the variable is not set.
func findPeer(t *testing.T, env string) *peer {
	t.Helper()
	python := os.Getenv(env)
	if python == "" {
		t.Skipf("%s is not set: it names a Python with the package capdag, which scripts/peers makes in build", env)
	}
	if p, asked := peers[env]; asked {
		return p
	}
	p := &peer{python: python}
	out := p.run(t, nil, "facts")
	require.NoError(t, json.Unmarshal(out, &p.facts), "facts: %s", out)
	peers[env] = p
	return p
}

// peers are the releases whose facts are known, so that each is asked once.
var peers = map[string]*peer{}

// command returns the peer's program, not started, in a mode and with arguments. It is killed
// when the test ends, and after a minute, which ends what waits for it; what it says on standard
// error goes into the test's log.
func (p *peer) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, p.python, append([]string{"testdata/capdag_peer.py"}, args...)...)
	stderr := new(spoken)
	cmd.Stderr = stderr
	t.Cleanup(func() {
		if text := stderr.String(); t.Failed() && text != "" {
			t.Logf("peer %v: %s", args, text)
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

package interop

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// theirEngine is testdata/capdag_switch.py.
type theirEngine struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *json.Decoder
}

// startEngine starts the peer's switch and engine for some hosts and waits until it listens. The
// policy may be none.
func startEngine(t *testing.T, p *peer, policy, socket string, hosts int, flags ...string) *theirEngine {
	t.Helper()
	args := slices.Clone(flags)
	if policy != "" {
		args = append(args, "--policy", policy)
	}
	args = append(args, socket, strconv.Itoa(hosts))
	e := &theirEngine{cmd: p.program(t, "capdag_switch.py", args...)}
	var err error
	e.stdin, err = e.cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := e.cmd.StdoutPipe()
	require.NoError(t, err)
	e.lines = json.NewDecoder(stdout)
	require.NoError(t, e.cmd.Start())
	var first struct{ Listening string }
	require.NoError(t, e.lines.Decode(&first))
	require.Equal(t, socket, first.Listening)
	return e
}

func (e *theirEngine) caps(t *testing.T) []string {
	t.Helper()
	var line struct {
		Caps  []string
		Error string
	}
	require.NoError(t, e.lines.Decode(&line))
	require.Empty(t, line.Error)
	return line.Caps
}

func (e *theirEngine) call(t *testing.T, v invocation) (a answer) {
	t.Helper()
	require.NoError(t, json.NewEncoder(e.stdin).Encode(v))
	require.NoError(t, e.lines.Decode(&a))
	return a
}

func (e *theirEngine) close(t *testing.T) {
	t.Helper()
	require.NoError(t, e.stdin.Close())
	require.NoError(t, e.cmd.Wait())
}

// theirHost is testdata/capdag_host.py.
type theirHost struct{ cmd *exec.Cmd }

// startHost starts the peer's host of a program.
func startHost(t *testing.T, p *peer, socket, program string, c cartridgeOf, flags ...string) *theirHost {
	t.Helper()
	args := append(slices.Clone(flags), socket, program, c.name)
	h := &theirHost{cmd: p.program(t, "capdag_host.py", append(args, c.caps...)...)}
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	h.cmd.Cancel = func() error { return syscall.Kill(-h.cmd.Process.Pid, syscall.SIGKILL) }
	h.cmd.WaitDelay = time.Second
	require.NoError(t, h.cmd.Start())
	return h
}

func (h *theirHost) stopped(t *testing.T) {
	t.Helper()
	require.NoError(t, h.cmd.Wait())
}

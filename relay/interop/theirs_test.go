package interop

import (
	"encoding/json"
	"io"
	"os/exec"
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

// startEngine starts the peer's switch and engine and waits until it listens.
func startEngine(t *testing.T, r *rig, socket string) *theirEngine {
	t.Helper()
	args := append([]string{}, r.flags...)
	if r.policy != "" {
		args = append(args, "--policy", r.policy)
	}
	args = append(args, socket, strconv.Itoa(len(r.hosts)))
	e := &theirEngine{cmd: r.peer.program(t, "capdag_switch.py", args...)}
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

func startHost(t *testing.T, r *rig, socket string, i int) *theirHost {
	t.Helper()
	args := append([]string{}, r.flags...)
	args = append(args, socket, r.script(t, i), cartridges[i].name)
	h := &theirHost{cmd: r.peer.program(t, "capdag_host.py", append(args, cartridges[i].caps...)...)}
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

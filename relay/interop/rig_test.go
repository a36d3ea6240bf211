package interop

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/host"
)

// A side is who has written a part of a rig.
type side string

const (
	byUs   side = "our"
	byThem side = "their"
)

// parts says who has written which part.
type parts struct{ switchBy, hostBy, cartridgeBy side }

func (p parts) String() string {
	return fmt.Sprintf("%s switch, %s host, %s cartridge", p.switchBy, p.hostBy, p.cartridgeBy)
}

// An invocation is a call of a cap with one argument.
type invocation struct {
	Cap    string `json:"cap"`
	Media  string `json:"media"`
	Body   []byte `json:"body,omitempty"`
	Piece  int    `json:"piece,omitempty"`  // bytes of a CHUNK
	Cancel bool   `json:"cancel,omitempty"` // as by its user, at the first LOG; the argument gets no end
}

// An answer is what came of an invocation.
type answer struct {
	Body                 []byte
	Terminal             string // end, err or cancelled
	Code, Class, Message string
	ExitCode             *int `json:"exit_code"`
	Logs                 []string
	Chunks, Credits      int // chunks of the answer, grants for them
	Error                string
}

// An engine is a switch over two hosts and what calls caps through it.
type engine interface {
	// caps waits until all hosts are there and returns what can be called.
	caps(t *testing.T) []string
	call(t *testing.T, v invocation) answer
	// close ends the switch, which has to be in order.
	close(t *testing.T)
}

// A rig is a switch, two hosts and a cartridge process at each, every part by one side: near
// serves forward and orphan, far serves invert, fail, die and wait.
type rig struct {
	parts
	peer    *peer
	flags   []string     // of the peer's programs
	policy  string       // network policy of the switch, or none
	options host.Options // of our host
	engine  engine
	on      [][]cartridgeOf // the cartridges of each host; two of theirs cannot be on one
	hosts   []stopper
	dir     string
	said    *os.File      // what cartridges say, and whether one is there
	lines   *bufio.Reader // of said
}

// A stopper is a host that ends when its switch has.
type stopper interface{ stopped(t *testing.T) }

// A cartridgeOf is a name and the caps of the tests that a cartridge has beside identity.
type cartridgeOf struct {
	name string
	caps []string
}

// The cartridges of a rig.
var (
	near = cartridgeOf{"near", []string{"forward", "orphan"}}
	far  = cartridgeOf{"far", []string{"invert", "fail", "die", "wait"}}
)

const (
	media    = "media:interop"
	identity = "cap:effect=none"
	envSays  = "COSIM_INTEROP_SAYS" // names the pipe that a cartridge holds and writes to
)

func capURN(op string) string { return "cap:in=" + media + ";op=" + op + ";out=" + media }

// assemble starts a rig. It is taken down when the test ends, if it was not closed by then.
func assemble(t *testing.T, r *rig) *rig {
	t.Helper()
	r.prepare(t)
	socket := filepath.Join(r.dir, "switch")
	if r.on == nil {
		r.on = [][]cartridgeOf{{near}, {far}}
	}
	r.engine = r.newEngine(t, socket, len(r.on))
	for _, on := range r.on {
		r.hosts = append(r.hosts, r.newHost(t, socket, on...))
	}
	return r
}

// prepare makes what the scripts of cartridges need.
func (r *rig) prepare(t *testing.T) {
	t.Helper()
	r.dir = t.TempDir()
	said := filepath.Join(r.dir, "said")
	require.NoError(t, syscall.Mkfifo(said, 0o600))
	var err error
	r.said, err = os.OpenFile(said, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	t.Cleanup(func() { r.said.Close() })
	r.lines = bufio.NewReader(r.said)
}

func (r *rig) newEngine(t *testing.T, socket string, hosts int) engine {
	if r.switchBy == byThem {
		return startEngine(t, r.peer, r.policy, socket, hosts, r.flags...)
	}
	return listen(t, r, socket, hosts)
}

func (r *rig) newHost(t *testing.T, socket string, of ...cartridgeOf) stopper {
	if r.hostBy == byUs {
		return runHost(t, r, socket, of...)
	}
	return startHost(t, r.peer, socket, r.script(t, of[0]), of[0], r.flags...)
}

// script writes a program that starts a cartridge: hosts start a cartridge without arguments.
func (r *rig) script(t *testing.T, c cartridgeOf) string {
	t.Helper()
	var command []string
	if r.cartridgeBy == byThem {
		program, err := filepath.Abs("testdata/capdag_cartridge.py")
		require.NoError(t, err)
		command = append([]string{r.peer.python, program}, r.flags...)
	} else {
		program, err := os.Executable()
		require.NoError(t, err)
		command = []string{"env", envCartridge + "=" + r.kind(), program}
	}
	command = append(append(command, c.name), c.caps...)
	path := filepath.Join(r.dir, c.name)
	text := fmt.Sprintf("#!/bin/sh\nexport %s='%s'\nexec '%s'\n", envSays, r.said.Name(), strings.Join(command, "' '"))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

// kind says how our cartridge describes its caps: the newest release wants names, which the
// older one refuses.
func (r *rig) kind() string {
	if r.peer.knowsPolicy() {
		return "names"
	}
	return "plain"
}

// says waits for a cartridge to say something.
func (r *rig) says(t *testing.T, want string) {
	t.Helper()
	require.NoError(t, r.said.SetReadDeadline(time.Now().Add(callLimit)))
	line, err := r.lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, want+"\n", line)
}

// close takes the rig down and finds that no process is left of it and no cartridge has said
// anything more.
func (r *rig) close(t *testing.T) {
	t.Helper()
	r.engine.close(t)
	for _, h := range r.hosts {
		h.stopped(t)
	}
	require.NoError(t, r.said.SetReadDeadline(time.Now().Add(callLimit)))
	rest, err := io.ReadAll(r.lines)
	require.NoError(t, err, "a cartridge is left")
	require.Empty(t, string(rest))
}

package endtoend

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of a host that is a process of its own.
const (
	socketVariable = "RELAY_ENDTOEND_SOCKET"
	namesVariable  = "RELAY_ENDTOEND_NAMES"
)

// serveHost is the program of a host.
func serveHost() {
	t := &program{}
	h := newHost(t, os.Getenv(markVariable), strings.Fields(os.Getenv(namesVariable))...)
	socket, err := net.Dial("unix", os.Getenv(socketVariable))
	require.NoError(t, err)
	if err := h.Run(context.Background(), socket); err != nil {
		t.Errorf("the host ended: %v", err)
	}
}

// A program is what assertions of a program that is not the test fail.
type program struct{ testing.TB }

func (*program) Helper() {}

func (*program) Errorf(format string, args ...any) {
	println(format)
	os.Exit(1)
}

func (*program) FailNow() { os.Exit(1) }

// startHostProcess joins a host that is a process of its own to the switch.
func (r *rig) startHostProcess(id string, names ...string) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(r.t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"=host", namesVariable+"="+strings.Join(names, " "),
		socketVariable+"="+r.listen.Addr().String(), markVariable+"="+r.mark)
	cmd.Stderr = os.Stderr
	require.NoError(r.t, cmd.Start())
	r.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	r.join(id)
	return cmd
}

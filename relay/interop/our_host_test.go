package interop

import (
	"errors"
	"log/slog"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/manifest"
)

// ourHost is a host.Host that runs.
type ourHost struct {
	*host.Host
	done chan error // what Run returned
}

// runHost starts a host of some cartridges, each a process, which connects to the switch. A switch
// of theirs numbers nothing, which the host has to be told.
func runHost(t *testing.T, r *rig, socket string, of ...cartridgeOf) *ourHost {
	t.Helper()
	log := new(spoken)
	t.Cleanup(func() {
		if text := log.String(); t.Failed() && text != "" {
			t.Logf("our host: %s", text)
		}
	})
	o := r.options
	o.Unnumbered = r.switchBy == byThem
	o.Logger = slog.New(slog.NewTextHandler(log, nil))
	o.HelloLimit, o.IdentityLimit = callLimit, callLimit
	h := &ourHost{Host: host.New(&o), done: make(chan error, 1)}
	for _, c := range of {
		require.NoError(t, h.Register(host.Registration{
			Install:  installOf(c),
			Groups:   groupsOf(c),
			Provider: host.Program(host.Exec, host.Command{Path: r.script(t, c)}),
		}))
	}
	conn, err := net.Dial("unix", socket)
	require.NoError(t, err)
	go func() { h.done <- h.Run(t.Context(), conn) }()
	t.Cleanup(func() { h.Close() })
	return h
}

func installOf(c cartridgeOf) manifest.Install {
	return manifest.Install{Channel: manifest.ChannelRelease, ID: c.name, Version: "1.0.0"}
}

func groupsOf(c cartridgeOf) []manifest.CapGroup {
	group := manifest.CapGroup{Name: "default", Caps: []manifest.Cap{described(identity, "identity", "media:")}}
	for _, op := range c.caps {
		group.Caps = append(group.Caps, described(capURN(op), op, media))
	}
	return []manifest.CapGroup{group}
}

// stopped finds that the host has ended in order. A switch process that exits resets the connection
// where it has not read all of it.
func (h *ourHost) stopped(t *testing.T) {
	t.Helper()
	select {
	case err := <-h.done:
		if !errors.Is(err, syscall.ECONNRESET) {
			require.NoError(t, err)
		}
	case <-time.After(callLimit):
		require.FailNow(t, "our host did not end")
	}
}

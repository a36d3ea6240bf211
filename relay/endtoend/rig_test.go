package endtoend

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/relay/stats"
)

// A rig is a switch with hosts in this process, each with cartridges that are processes of their own.
type rig struct {
	t      testing.TB
	mark   string
	sw     *route.Switch
	listen *net.UnixListener
	ended  endings
	hosts  map[string]*runningHost
}

type runningHost struct {
	*host.Host
	socket net.Conn
	stop   context.CancelFunc
	done   chan error
}

var marks atomic.Int64

// newRig makes a switch without hosts.
func newRig(t testing.TB) *rig { return newRigWith(t, route.Options{}) }

func newRigWith(t testing.TB, o route.Options) *rig {
	r := &rig{t: t, mark: strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(marks.Add(1), 10), hosts: map[string]*runningHost{}}
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "switch.sock"))
	require.NoError(t, err)
	r.listen = l.(*net.UnixListener)
	o.OnTerminated = r.ended.add
	r.sw, err = route.New(t.Context(), nil, &o)
	require.NoError(t, err)
	t.Cleanup(r.close)
	return r
}

// close ends all hosts and the switch. No process may be left.
func (r *rig) close() {
	for id := range r.hosts {
		r.stopHost(id)
	}
	r.sw.Close()
	r.listen.Close()
	awaitNoProcess(r.t, r.mark)
}

// startHost joins a host with some cartridges to the switch.
func (r *rig) startHost(id string, names ...string) *runningHost {
	return r.runHost(id, newHost(r.t, r.mark, names...))
}

// runHost joins a host of the caller's to the switch.
func (r *rig) runHost(id string, made *host.Host) *runningHost {
	return r.runHostOver(id, made, r.dial())
}

func (r *rig) dial() *net.UnixConn {
	socket, err := net.Dial("unix", r.listen.Addr().String())
	require.NoError(r.t, err)
	return socket.(*net.UnixConn)
}

// runHostOver is runHost over a socket of the caller's, whose other end waits to be accepted.
func (r *rig) runHostOver(id string, made *host.Host, socket net.Conn) *runningHost {
	h := &runningHost{Host: made, socket: socket, done: make(chan error, 1)}
	var ctx context.Context
	ctx, h.stop = context.WithCancel(context.Background())
	go func() { h.done <- h.Run(ctx, socket) }()
	r.join(id)
	r.hosts[id] = h
	return h
}

// join makes a master of the next connection to the rig's socket.
func (r *rig) join(id string) {
	conn, err := r.listen.Accept()
	require.NoError(r.t, err)
	eventually(r.t, func() bool { return r.sw.AcceptsAttach(id) }, "the switch knows that host "+id+" has ended")
	_, err = r.sw.AddMaster(r.t.Context(), id, conn)
	require.NoError(r.t, err)
	for _, m := range r.sw.Health() {
		require.True(r.t, m.Healthy || m.ID != id, "%+v", m)
	}
}

func (r *rig) stopHost(id string) {
	h := r.hosts[id]
	delete(r.hosts, id)
	h.stop()
	select {
	case <-h.done:
	case <-time.After(30 * time.Second):
		r.t.Errorf("host %s does not end", id)
	}
}

// newHost makes a host with some cartridges, which are this program in another role.
func newHost(t testing.TB, mark string, names ...string) *host.Host {
	h := host.New(&host.Options{
		Logger:         logger(),
		HeartbeatLimit: 2 * time.Minute, // on a busy machine, with the race detector
	})
	for _, name := range names {
		require.NoError(t, h.Register(registration(t, mark, name)))
	}
	return h
}

func registration(t testing.TB, mark, name string) host.Registration {
	return registrationOf(t, mark, name, "cartridge", "")
}

// registrationOf returns the registration of this program in a role.
func registrationOf(t testing.TB, mark, name, role, behaviour string) host.Registration {
	self, err := os.Executable()
	require.NoError(t, err)
	identity, err := manifest.NewCap("cap:effect=none", "Identity")
	require.NoError(t, err)
	own, err := manifest.NewCap(capOf(name), "Do as the plan says")
	require.NoError(t, err)
	return host.Registration{
		Install: manifest.Install{Channel: manifest.ChannelRelease, ID: name, Version: "1.0.0"},
		Groups:  []manifest.CapGroup{{Name: "default", Caps: []manifest.Cap{identity, own}}},
		Provider: host.Program(host.Exec, host.Command{
			Path: self,
			Env: append(os.Environ(), roleVariable+"="+role, nameVariable+"="+name, markVariable+"="+mark,
				behaviourVariable+"="+behaviour),
		}),
	}
}

// logger returns where hosts log to: what their cartridges write too. Nowhere, unless ENDTOEND_LOG is set.
func logger() *slog.Logger {
	if os.Getenv("ENDTOEND_LOG") == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(os.Stderr, nil))
}

// Endings counts requests that ended, and, where it remembers them, those that ended twice.
type endings struct {
	total, twice atomic.Int64
	seen         *sync.Map // routing ids; nil remembers nothing
}

func (e *endings) add(r stats.Terminated) {
	e.total.Add(1)
	if e.seen == nil {
		return
	}
	if _, again := e.seen.LoadOrStore(r.XID, true); again {
		e.twice.Add(1)
	}
}

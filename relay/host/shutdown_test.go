package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// Requirement: C5
// When the switch ends the relay, cartridges see the end of their input, and none is left when Run returns. Nobody is told.
func TestOrderedShutdown(t *testing.T) {
	r := startRig(t, nil, "demo", "good")
	r.echoes("demo")
	r.echoes("good")
	pending := r.req(capOf("never") + ";of=demo")
	r.echoes("demo")
	require.NoError(t, r.conn.CloseWrite())
	require.NoError(t, <-r.ran)
	r.noProcesses()
	r.await("end", func() bool { return r.ended })
	for _, f := range r.frames {
		require.NotEqual(t, pending.RID, f.ID, "an answer that nobody waits for: %v", f.Type)
	}
	require.Contains(t, r.event(Stopped).Message, "was stopped with its host")
	require.Zero(t, r.h.Inventory()[0].Stats.Restarts)
	r.idle()
}

// A cartridge gets all that was on its way before it sees the end of its input.
func TestShutdownWritesWhatIsQueued(t *testing.T) {
	var log stderrLines
	r := startRig(t, &Options{Logger: log.logger(), StopLimit: patience}, "demo")
	q := r.req(capOf("early"))
	q.end()
	q.body(strings.Repeat("x", 2<<20)) // more than a pipe holds
	require.NoError(t, r.conn.CloseWrite())
	require.NoError(t, <-r.ran)
	log.await(t, "the body had 4 frames")
}

// What does not leave at the end of its input is killed after the limit, whatever it is at.
func TestShutdownKillsWhatStays(t *testing.T) {
	for _, do := range []string{"stay", "stop", "flood-log", "half-hang", "starting"} {
		t.Run(do, func(t *testing.T) {
			behaviour := "demo"
			switch do {
			case "stay":
				behaviour = "demo/stay"
			case "starting":
				behaviour = "demo/mute"
			}
			r := startRig(t, &Options{StopLimit: 300 * time.Millisecond}, behaviour)
			if do == "starting" {
				r.req(capOf("echo"))
				require.Eventually(t, func() bool { return len(r.processes()) == 1 }, patience, time.Millisecond)
			} else {
				r.echoes("demo")
				r.req(capOf(do))
			}
			require.NoError(t, r.conn.Close())
			<-r.ran
			r.noProcesses()
			require.Equal(t, Stopped, r.event(Stopped).Kind)
		})
	}
}

// The end of the context ends Run in the same way.
func TestContextEndsRun(t *testing.T) {
	relaytest.NoLeaks(t)
	r := newRig(t, nil)
	require.NoError(t, r.h.Register(r.registration("demo")))
	near, far, err := relaytest.SocketPair()
	require.NoError(t, err)
	defer near.Close()
	r.conn, r.out = near, frame.NewWriter(near, nil)
	go r.read(near)
	ctx, cancel := context.WithCancelCause(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- r.h.Run(ctx, far) }()
	r.echoes("demo")
	require.ErrorIs(t, r.h.Run(ctx, closed(t)), ErrBusy)
	cause := errors.New("enough")
	cancel(cause)
	require.ErrorIs(t, <-ran, cause)
	r.noProcesses()
	require.NoError(t, r.h.Close())
	require.ErrorIs(t, r.h.Run(t.Context(), closed(t)), ErrClosed)
	require.ErrorIs(t, r.h.Register(r.registration("other")), ErrClosed)
}

// closed returns a connection of which one end is closed already.
func closed(t *testing.T) io.ReadWriteCloser {
	a, b, err := relaytest.SocketPair()
	require.NoError(t, err)
	b.Close()
	return a
}

// Frames that a switch never sends end the relay, in good order.
func TestFatalFramesFromTheRelay(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(r *rig) *frame.Frame
		says string
	}{
		{"no routing id", func(*rig) *frame.Frame {
			f := frame.NewReq(frame.NewUUID(), []byte(capOf("echo")))
			return &f
		}, "without a routing id"},
		{"REQ without a cap", func(*rig) *frame.Frame {
			f := frame.NewReq(frame.NewUUID(), nil)
			f.Cap, f.RoutingID = nil, frame.Number(9)
			return &f
		}, "without a cap"},
		{"HEARTBEAT", func(*rig) *frame.Frame {
			f, _ := frame.NewHeartbeat(frame.NewUUID(), frame.Heartbeat{})
			return &f
		}, "a heartbeat from the relay"},
		{"HELLO", func(*rig) *frame.Frame {
			f, _ := frame.NewHello(frame.Hello{Limits: frame.DefaultLimits()})
			return &f
		}, "a hello from the relay"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := startRig(t, nil, "demo")
			r.echoes("demo")
			r.send(c.make(r))
			err := <-r.ran
			require.ErrorIs(t, err, frame.ErrProtocol)
			require.ErrorContains(t, err, c.says)
			r.noProcesses()
			r.await("end", func() bool { return r.ended })
		})
	}
}

// A host that is killed leaves no cartridge: the kernel ends them on Linux.
func TestKilledHostLeavesNoProcess(t *testing.T) {
	relaytest.NoLeaks(t)
	r := newRig(t, nil)
	host, conn := r.hostProcess()
	r.conn, r.out = conn, frame.NewWriter(conn, nil)
	go r.read(conn)
	r.note(func(*manifest.Inventory) bool { return true })
	r.echoes("demo")
	r.echoes("good")
	r.req(capOf("stop") + ";of=good")
	require.Eventually(t, func() bool { return len(r.processes()) == 3 }, patience, time.Millisecond)
	require.NoError(t, host.Process.Kill())
	host.Wait()
	require.Eventually(t, func() bool { return len(r.processes()) == 0 }, patience, time.Millisecond)
	conn.Close()
}

// hostProcess starts a process of this test binary that is a host with two cartridges.
func (r *rig) hostProcess() (*exec.Cmd, relaytest.Conn) {
	near, far, err := relaytest.SocketPair()
	require.NoError(r.t, err)
	file, err := far.(*net.UnixConn).File()
	require.NoError(r.t, err)
	far.Close()
	self, err := os.Executable()
	require.NoError(r.t, err)
	c := exec.Command(self)
	c.Env = append(os.Environ(), behaviourVar+"=host", markVar+"="+r.mark)
	c.ExtraFiles, c.Stderr = []*os.File{file}, os.Stderr
	require.NoError(r.t, c.Start())
	file.Close()
	return c, near
}

// runHost is what a process of this test binary does as a host, of the switch at its descriptor 3.
func runHost() int {
	conn, err := net.FileConn(os.NewFile(3, "switch"))
	if err == nil {
		h := New(nil)
		for _, name := range []string{"demo", "good"} {
			env := append(os.Environ(), behaviourVar+"="+name)
			err = errors.Join(err, h.Register(Registration{
				Install: install(name), Groups: manifestOf(name, "").Groups,
				Provider: Program(nil, Command{Path: "/proc/self/exe", Env: env}),
			}))
		}
		err = errors.Join(err, h.Run(context.Background(), conn))
	}
	fmt.Fprintln(os.Stderr, "host:", err)
	return 1
}

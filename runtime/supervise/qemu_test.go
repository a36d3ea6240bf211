package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/qmp"
	"github.com/cosim-go/cosim/topology"
)

const qemu = "/usr/bin/qemu-system-x86_64"

// qemuVhost adds a QEMU without any disk, which waits for somebody to boot it.
func (s *stage) qemuVhost(args ...string) *plan.Process {
	p := s.vhost("m", "")
	p.Kind, p.Program = "qemu-vhost", qemu
	p.Ready = adapters.Ready{QMP: s.path("qmp.sock")}
	p.Stop.QMP = p.Ready.QMP
	p.Console = &plan.Console{Socket: s.path("serial.sock"), Log: s.path("serial.log")}
	p.Expect = &plan.Expect{Log: p.Console.Log}
	p.Args = append([]string{
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-cpu", "qemu64",
		"-chardev", "socket,id=ser0,path=" + p.Console.Socket + ",server=on,wait=off,logfile=" + p.Console.Log, "-serial", "chardev:ser0",
		"-qmp", "unix:" + p.Ready.QMP + ",server=on,wait=off",
	}, args...)
	return p
}

// remoteDevice adds a QEMU that serves one device over a descriptor.
func (s *stage) remoteDevice(id string) *plan.Process {
	p := s.add("m", id, topology.RoleDevice, "qemu-device", "")
	p.Program = qemu
	p.FDs = []adapters.FD{{Number: 3, Channel: "m/" + id}}
	p.Stop.QMP = s.path(id + ".qmp")
	p.Args = []string{
		"-nodefaults", "-display", "none", "-serial", "none", "-monitor", "none", "-machine", "x-remote",
		"-device", "lsi53c895a,id=d0", "-object", "x-remote-object,id=ro,devid=d0,fd=3",
		"-qmp", "unix:" + p.Stop.QMP + ",server=on,wait=off",
	}
	return p
}

// remoteHost adds a vhost with a proxy for each device so far.
func (s *stage) remoteHost() *plan.Process {
	args := []string{"-machine", "q35,accel=tcg,memory-backend=mem", "-m", "64M",
		"-object", "memory-backend-file,id=mem,size=64M,mem-path=" + s.path("pool") + ",share=on"}
	var fds []adapters.FD
	for i, d := range s.procs {
		fd := adapters.FD{Number: 3 + i, Channel: d.ID}
		fds = append(fds, fd)
		args = append(args, "-device", "x-pci-proxy-dev,id=p"+string(rune('0'+i))+",fd="+string(rune('0'+fd.Number)))
	}
	p := s.qemuVhost(args...)
	p.FDs = fds
	return p
}

// A QEMU is ready once its monitor answers, which is free for others then, and leaves
// by `quit`. One that waits with -S does so too.
//
// Requirement: X5.
func TestQEMUIsReadyAndQuits(t *testing.T) {
	s := newStage(t)
	v := s.qemuVhost("-S", "-machine", "q35,accel=tcg", "-m", "64M")
	v.Stop.Signal = "USR1" // would kill it
	stale(t, v.Ready.QMP)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	var status json.RawMessage
	s.on(v.ID, Ready, func() {
		client, err := qmp.Dial(t.Context(), v.Ready.QMP)
		if err == nil {
			defer client.Close()
			err = client.Negotiate(t.Context())
		}
		if err == nil {
			status, err = client.Execute(t.Context(), "query-status", nil)
		}
		if err != nil {
			t.Errorf("the monitor of a ready QEMU: %v", err)
		}
		cancel(cause)
	})
	result := s.run(ctx)
	if got := s.state(result, v); got.ExitStatus != 0 || got.Signal != "" || got.State != Exited {
		t.Errorf("vhost = %+v, want an exit with 0", got)
	}
	if !errors.Is(result.Err(), cause) || !strings.Contains(string(status), "prelaunch") {
		t.Errorf("Err() = %v, status %s", result.Err(), status)
	}
}

// Requirement: X5. The vhost does not notice that its device is gone; the session does,
// and stops the vhost and the other device.
func TestKilledQEMUDeviceEndsTheSession(t *testing.T) {
	s := newStage(t)
	s.remoteDevice("lsi-0")
	s.remoteDevice("lsi-1")
	v := s.remoteHost()
	s.on(v.ID, Ready, func() { syscall.Kill(s.pid("m/lsi-1"), syscall.SIGKILL) })
	result := s.run(context.Background())
	if got, want := s.message(result), `device "lsi-1" (qemu-device) was killed by signal 9 (SIGKILL) after TIME`; got != want {
		t.Errorf("message = %s, want %s", got, want)
	}
	for _, p := range []*plan.Process{s.procs[0], v} {
		if got := s.state(result, p); got.ExitStatus != 0 || got.State != Exited {
			t.Errorf("%s = %+v, want an exit with 0", p.ID, got)
		}
	}
}

// A vhost that ends by itself takes its remote devices along, in their grace of an hour.
func TestQEMUDevicesLeaveWithTheirVhost(t *testing.T) {
	s := newStage(t)
	s.remoteDevice("lsi-0")
	s.remoteDevice("lsi-1")
	v := s.remoteHost()
	s.on(v.ID, Ready, func() {
		client, err := qmp.Dial(t.Context(), v.Ready.QMP)
		if err != nil {
			t.Error(err)
			return
		}
		defer client.Close()
		client.Negotiate(t.Context())
		client.Execute(t.Context(), "quit", nil)
	})
	if err := s.run(context.Background()).Err(); err != nil {
		t.Error(err)
	}
}

// A vhost whose device hangs hangs with it at its next access, and serves neither its
// monitor nor its signal then.
func TestHangingQEMUDeviceDoesNotHoldUpTheEnd(t *testing.T) {
	s := newStage(t)
	d := s.remoteDevice("lsi-0")
	v := s.remoteHost()
	v.Stop.Grace, d.Stop.Grace = "100ms", "5s"
	ctx, cancel := context.WithCancel(context.Background())
	s.on(v.ID, Ready, func() {
		syscall.Kill(s.pid(d.ID), syscall.SIGSTOP)
		cancel()
	})
	result := s.run(ctx)
	if err := result.Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("Err() = %v", err)
	}
	for _, p := range s.procs {
		if got := s.state(result, p); got.State != Exited {
			t.Errorf("%s = %+v, want it ended", p.ID, got)
		}
	}
}

// A start error of QEMU's is shown with the message.
func TestQEMUStartError(t *testing.T) {
	s := newStage(t)
	v := s.qemuVhost("-machine", "no-such-machine")
	result := s.run(context.Background())
	f := result.First
	if f == nil || f.Process != v.ID || f.Reason != EndedEarly || f.ExitStatus != 1 || !strings.Contains(f.Error(), "last line of its log: ") {
		t.Fatalf("First = %+v", f)
	}
	if !strings.Contains(strings.Join(f.Log, "\n"), "unsupported machine type") {
		t.Errorf("First.Log = %q, want what QEMU said", f.Log)
	}
	if _, err := os.Stat(v.Log); err != nil {
		t.Error(err)
	}
}

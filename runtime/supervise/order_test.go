package supervise

import (
	"context"
	"errors"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/adapters"
)

// Each of two devices waits for the other, so they become ready only if both run at the
// same time; the vhost is started behind both.
//
// Requirements: P3, X3, X5.
func TestIndependentProcessesStartInParallel(t *testing.T) {
	s := newStage(t)
	s.gate("a")
	s.gate("b")
	d0 := s.device("m", "d0", "echo x >a; read x <b; echo up; exec sleep 1000")
	d1 := s.device("m", "d1", "echo x >b; read x <a; echo up; exec sleep 1000")
	d0.Ready, d1.Ready = adapters.Ready{Log: "^up"}, adapters.Ready{Log: "^up"}
	d0.Stop.Grace, d1.Stop.Grace = "1ms", "1ms"
	v := s.vhost("m", "exit 0")
	result := s.run(context.Background())
	if err := result.Err(); err != nil {
		t.Fatal(err)
	}
	states := s.states()
	start := slices.Index(states, "m/vhost starting")
	for _, d := range []string{"m/d0 ready", "m/d1 ready"} {
		if i := slices.Index(states, d); i < 0 || i > start {
			t.Errorf("states = %q, want %q before the vhost starts", states, d)
		}
	}
	if vs := s.state(result, v); vs.Started.Before(s.state(result, d0).ReadyAt) || vs.PID == 0 || vs.StartTime == 0 || vs.ExitStatus != 0 {
		t.Errorf("state of the vhost = %+v", vs)
	}
}

// Requirements: X5.
func TestVhostsAreStoppedBeforeDevices(t *testing.T) {
	s := newStage(t)
	for _, m := range []string{"m0", "m1"} {
		s.device(m, "d", "exec sleep 1000")
		s.vhost(m, "exec sleep 1000")
	}
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	s.on("m1/vhost", Ready, func() { cancel(cause) })
	result := s.run(ctx)
	if !errors.Is(result.Err(), cause) || result.First != nil {
		t.Errorf("Err() = %v, want %v", result.Err(), cause)
	}
	states := s.states()
	first := slices.IndexFunc(states, func(s string) bool { return strings.HasSuffix(s, "/d stopping") })
	for _, v := range []string{"m0/vhost exited", "m1/vhost exited"} {
		if i := slices.Index(states, v); i < 0 || i > first {
			t.Errorf("states = %q, want %q before a device is stopped", states, v)
		}
	}
}

// A session of several machines goes on until the last vhost has ended.
func TestSessionEndsWithItsLastVhost(t *testing.T) {
	s := newStage(t)
	s.gate("go")
	d := s.device("m0", "d", "exec sleep 1000")
	d.Stop.Grace = "1ms"
	s.vhost("m0", "exit 0")
	v1 := s.vhost("m1", "read x <go; exit 0")
	s.on("m0/d", Exited, func() { s.open("go") })
	result := s.run(context.Background())
	if err := result.Err(); err != nil {
		t.Error(err)
	}
	if got := s.state(result, v1); got.State != Exited || got.ExitStatus != 0 {
		t.Errorf("the second vhost = %+v, want an exit with 0", got)
	}
	if got := s.state(result, d); got.State != Exited || got.Signal != "SIGTERM" {
		t.Errorf("the device = %+v, want it stopped and not failed", got)
	}
}

// With several machines the message says which one's device failed.
func TestFailureNamesTheMachine(t *testing.T) {
	s := newStage(t)
	s.device("m0", "d", "exec sleep 1000")
	s.vhost("m0", "exec sleep 1000")
	s.device("m1", "d", "exit 3")
	s.vhost("m1", "exec sleep 1000")
	result := s.run(context.Background())
	if got, want := s.message(result), `device "d" of machine "m1" (test-device) exited with status 3 after TIME`; got != want {
		t.Errorf("message = %s, want %s", got, want)
	}
	if f := result.First; f != nil && (f.Process != "m1/d" || f.Machine != "m1") {
		t.Errorf("First = %+v", f)
	}
}

func TestEndedContextStartsNothing(t *testing.T) {
	s := newStage(t)
	v := s.vhost("m", "exit 0")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	result := s.run(ctx)
	if got := s.state(result, v); !errors.Is(result.Err(), context.Canceled) || got.State != NotStarted || got.PID != 0 {
		t.Errorf("Run with an ended context: %v, vhost %+v", result.Err(), got)
	}
}

// A device that leaves with 0 just before its vhost has done nothing wrong. The vhost
// goes when it sees the link close, as the device's end of the link is.
func TestDeviceMayLeaveJustBeforeItsVhost(t *testing.T) {
	s := newStage(t)
	s.gate("go")
	d := s.device("m", "d", "read x <go; exit 0")
	d.FDs = []adapters.FD{{Number: 3, Channel: "m/d"}}
	v := s.vhost("m", "read x <&4; exit 0")
	v.FDs = []adapters.FD{{Number: 4, Channel: "m/d"}}
	s.on("m/vhost", Ready, func() { s.open("go") })
	if err := s.run(context.Background()).Err(); err != nil {
		t.Error(err)
	}
}

// If such a vhost fails, the device that left is named as what may be the cause.
func TestDeviceThatLeftIsNamedWithTheVhost(t *testing.T) {
	s := newStage(t)
	s.gate("device")
	s.gate("vhost")
	s.device("m", "d", "read x <device; exit 0")
	s.vhost("m", "read x <vhost; exit 1")
	s.on("m/vhost", Ready, func() { s.open("device") })
	s.on("m/d", Exited, func() { s.open("vhost") })
	f := s.run(context.Background()).First
	if f == nil || f.Process != "m/vhost" || !strings.HasPrefix(f.Hint, `device "d" exited with status 0 after`) {
		t.Errorf("First = %+v", f)
	}
}

// A device that is gone before the vhost it waits for could start fails the session,
// though it was ready.
func TestDeviceThatLeavesBeforeItsVhostStarts(t *testing.T) {
	s := newStage(t)
	s.device("m", "d0", "exec sleep 1000")
	s.device("m", "d1", "exit 0")
	s.procs[0].Ready.Log = "never"
	s.vhost("m", "exit 0")
	result := s.run(context.Background())
	if got, want := s.message(result), `device "d1" (test-device) exited with status 0 after TIME, before its vhost was started`; got != want {
		t.Errorf("message = %s, want %s", got, want)
	}
}

func TestSIGBUSPointsAtThePool(t *testing.T) {
	s := newStage(t)
	s.vhost("m", "kill -BUS $$")
	result := s.run(context.Background())
	if got, want := s.message(result), `vhost of machine "m" (test-vhost) was killed by signal 7 (SIGBUS) after TIME`; got != want {
		t.Errorf("message = %s, want %s", got, want)
	}
	if result.First == nil || !strings.Contains(result.First.Hint, "pool") {
		t.Errorf("First = %+v, want a hint at the pool", result.First)
	}
}

// Requirement: X3. What runs is what the plan says: command line, environment,
// descriptors, directory, group.
func TestProcessIsThatOfThePlan(t *testing.T) {
	s := newStage(t)
	s.opts.Env = append(s.opts.Env, "COSIM_SESSION=another", "KEPT=1", "CHANGED=1")
	d := s.device("m", "d", "exec sleep 1000")
	d.FDs = []adapters.FD{{Number: 3, Channel: "m/d"}}
	v := s.vhost("m", `tr '\0' '|' </proc/$$/cmdline; echo; env | grep -E '^(KEPT|CHANGED|OWN|COSIM_)' | sort; pwd
for fd in 0 1 2 3 4 5 6 7 8; do printf "fd $fd "; readlink /proc/$$/fd/$fd || echo none; done; ps -o pgid= -p $$ | tr -d ' ' | sed "s/^$$\$/leader/"; ls out`)
	v.FDs = []adapters.FD{{Number: 5, Channel: "m/d"}}
	v.Env = map[string]string{"OWN": "a b", "CHANGED": "2"}
	v.Dirs = []string{s.path("out/deep")}
	d.Stop.Grace = "1ms"
	if err := s.run(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
	want := strings.Join(append([]string{"/bin/sh"}, v.Args...), "|") + "|\n" +
		"CHANGED=2\nCOSIM_PROCESS=m/vhost\nCOSIM_SESSION=" + s.opts.Mark + "\nKEPT=1\nOWN=a b\n" + s.dir +
		"\nfd 0 /dev/null\nfd 1 pipe:\nfd 2 pipe:\nfd 3 none\nfd 4 none\nfd 5 socket:\nfd 6 none\nfd 7 none\nfd 8 none\nleader\ndeep\n"
	if got := regexp.MustCompile(`\[\d+\]`).ReplaceAllString(s.log(v), ""); got != want {
		t.Errorf("the process says\n%s\nwant\n%s", got, want)
	}
	if fi, err := os.Stat(s.path("out/deep")); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("its directory: %v, %v, want mode 0700", fi, err)
	}
}

// Both ends of a channel reach their processes, and ours are closed: the device sees
// the end when its vhost goes, and leaves by itself within its grace of an hour.
func TestChannelJoinsTwoProcesses(t *testing.T) {
	s := newStage(t)
	s.gate("ended")
	d := s.device("m", "d", "read x <&7; echo device got $x; echo pong >&7; read x <&7; read x <ended; exit 5")
	s.on("m/vhost", Exited, func() { s.open("ended") })
	d.FDs = []adapters.FD{{Number: 7, Channel: "m/d"}}
	v := s.vhost("m", "echo ping >&3; read x <&3; echo vhost got $x")
	v.FDs = []adapters.FD{{Number: 3, Channel: "m/d"}}
	result := s.run(context.Background())
	if err := result.Err(); err != nil {
		t.Error(err)
	}
	if got := []string{s.log(d), s.log(v)}; !reflect.DeepEqual(got, []string{"device got ping\n", "vhost got pong\n"}) {
		t.Errorf("logs = %q", got)
	}
	if got := s.state(result, d); got.ExitStatus != 5 || got.State != Exited {
		t.Errorf("device = %+v, want an exit with 5 that does not matter", got)
	}
}

// When the other end never comes, the one that waits for it is not left waiting, be it
// that its peer cannot be executed or that its turn does not come.
func TestFailedStartClosesChannels(t *testing.T) {
	for _, missing := range []string{"m/vhost", "m/d1"} {
		s := newStage(t)
		d := s.device("m", "d0", `trap "" TERM; echo up; read x <&3; echo end`)
		d.Ready.Log = "^up"
		d.FDs = []adapters.FD{{Number: 3, Channel: "m/d0"}}
		s.device("m", "d1", "exec sleep 1000").DependsOn = []string{d.ID}
		s.vhost("m", "exec sleep 1000").FDs = d.FDs
		for _, p := range s.procs {
			if p.ID == missing {
				p.Program = s.path("none")
			}
		}
		result := s.run(context.Background())
		if f := result.First; f == nil || f.Process != missing || f.Reason != NotExecuted {
			t.Errorf("First = %+v, want %s not executed", f, missing)
		}
		if got := s.log(d); got != "up\nend\n" {
			t.Errorf("without %s the device says %q, want it to see the end of its channel", missing, got)
		}
	}
}

package supervise

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/runtime/internal/proc"
)

// A hard end is a vhost that does not just go when it is told to.
//
// A script with a trap runs short commands in a loop: a shell that got a signal just
// before it waits for something long would see it only after that.
type hardEnd struct {
	name, script, grace string
	status              int
	signal              string
}

var hardEnds = []hardEnd{
	{"obeys", "echo up; exec sleep 1000", "1h", -1, "SIGTERM"},
	{"ignores TERM", `trap "" TERM; echo up; while :; do sleep 1000; done`, "20ms", -1, "SIGKILL"},
	{"has its own way to leave", `trap "exit 7" TERM; echo up; while :; do sleep 0.01; done`, "1h", 7, ""},
	{"is stopped", `trap "exit 7" TERM; echo up; kill -STOP $$`, "1h", 7, ""},
	{"is stopped and ignores TERM", `trap "" TERM; echo up; kill -STOP $$; while :; do sleep 1000; done`, "20ms", -1, "SIGKILL"},
	{"has a child in its group", "sleep 1000 & echo up; wait", "1h", -1, "SIGTERM"},
	{"has a child in its group that ignores TERM", `(trap "" TERM; echo up; while :; do sleep 1000; done) & wait`, "20ms", -1, "SIGTERM"},
	{"has a child in a session of its own", `setsid sh -c 'trap "" TERM; echo up; exec sleep 1000' & wait`, "1h", -1, "SIGTERM"},
	{"has a child in a session of its own with nothing of our log", `setsid sh -c 'exec >/dev/null 2>&1 sleep 1000' & echo up; wait`, "1h", -1, "SIGTERM"},
}

// Requirement: X5. Nothing is left of any of them; run checks that.
func TestStoppedSessionLeavesNothing(t *testing.T) {
	for _, tt := range hardEnds {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			v := s.vhost("m", tt.script)
			v.Ready.Log, v.Stop.Grace = "^up", tt.grace
			ctx, cancel := context.WithCancel(context.Background())
			s.on("m/vhost", Ready, cancel)
			result := s.run(ctx)
			if got := s.state(result, v); got.ExitStatus != tt.status || got.Signal != tt.signal || got.State != Exited {
				t.Errorf("vhost = %+v, want status %d, signal %q", got, tt.status, tt.signal)
			}
		})
	}
}

// The end of a vhost that ends well leaves nothing either.
func TestEndedSessionLeavesNothing(t *testing.T) {
	for name, script := range map[string]string{
		"child in its group":                `sleep 1000 & exit 0`,
		"child in a session of its own":     `setsid sleep 1000 & exit 0`,
		"child without our log":             `setsid sleep 1000 >/dev/null 2>&1 & exit 0`,
		"child that writes without end":     `setsid yes & exit 0`,
		"child that makes children":         `setsid sh -c 'while :; do sleep 0.01; done' & exit 0`,
		"dead child that nobody waited for": `sh -c 'exit 0' & exit 0`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.vhost("m", script)
			if err := s.run(context.Background()).Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A child of a stopping process gets the grace that its parent does not need.
func TestGroupGetsTheWholeGrace(t *testing.T) {
	s := newStage(t)
	s.gate("go")
	v := s.vhost("m", `(trap "read x <go; echo saved; exit 0" TERM; echo up; while :; do sleep 0.01; done) & wait`)
	v.Ready.Log = "^up"
	ctx, cancel := context.WithCancel(context.Background())
	s.on("m/vhost", Ready, cancel)
	s.on("m/vhost", Exited, func() { s.open("go") })
	s.run(ctx)
	if got := s.log(v); !strings.HasSuffix(got, "saved\n") {
		t.Errorf("log = %q, want what the child says at last", got)
	}
}

// Requirement: X5. The second request does not wait for anybody.
func TestKillDoesNotWait(t *testing.T) {
	s := newStage(t)
	kill := make(chan struct{})
	s.opts.Kill = kill
	for _, id := range []string{"d0", "d1"} {
		s.device("m", id, `trap "" TERM; echo up; while :; do sleep 1000; done`).Ready.Log = "^up"
	}
	s.vhost("m", `trap "" TERM; echo up; while :; do sleep 1000; done`).Ready.Log = "^up"
	ctx, cancel := context.WithCancel(context.Background())
	s.on("m/vhost", Ready, cancel)
	s.on("m/vhost", Stopping, func() { close(kill) })
	result := s.run(ctx)
	for _, p := range s.procs {
		if got := s.state(result, p); got.Signal != "SIGKILL" {
			t.Errorf("%s = %+v, want SIGKILL", p.ID, got)
		}
	}
	if !errors.Is(result.Err(), context.Canceled) {
		t.Errorf("Err() = %v", result.Err())
	}
}

func TestKillEndsARunningSession(t *testing.T) {
	s := newStage(t)
	kill := make(chan struct{})
	s.opts.Kill = kill
	v := s.vhost("m", `trap "" TERM; while :; do sleep 1000; done`)
	s.on("m/vhost", Ready, func() { close(kill) })
	result := s.run(context.Background())
	if got := s.state(result, v); got.Signal != "SIGKILL" || result.Err() == nil {
		t.Errorf("vhost = %+v, Err() = %v", got, result.Err())
	}
}

// Requirement: X5. A device killed from outside is noticed at once and named; no grace
// and no timeout of the plan, all of an hour, is waited for.
func TestKilledDeviceEndsTheSession(t *testing.T) {
	s := newStage(t)
	s.device("m", "d0", "exec sleep 1000").FDs = []adapters.FD{{Number: 3, Channel: "m/d0"}}
	d := s.device("m", "d1", "echo serving; exec sleep 1000")
	d.Ready.Log = "serving"
	s.vhost("m", "exec sleep 1000").FDs = []adapters.FD{{Number: 3, Channel: "m/d0"}}
	s.on("m/vhost", Ready, func() { syscall.Kill(s.pid("m/d1"), syscall.SIGKILL) })
	result := s.run(context.Background())
	want := `device "d1" (test-device) was killed by signal 9 (SIGKILL) after TIME; last line of its log: serving`
	if got := s.message(result); got != want {
		t.Errorf("message = %s, want %s", got, want)
	}
	if result.First.Process != d.ID {
		t.Errorf("First.Process = %s", result.First.Process)
	}
}

// pid is that of a process in the events so far.
func (s *stage) pid(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Process.ID == id && e.Process.PID != 0 {
			return e.Process.PID
		}
	}
	return 0
}

// Requirement: X5. A supervisor that is killed takes its session with it: its children
// by PDEATHSIG even without a guard, grandchildren by the guard.
func TestKilledSupervisorLeavesNothing(t *testing.T) {
	for _, tt := range []struct{ name, script, guard string }{
		{"children", `echo $$ >up; exec sleep 1000`, "no-guard"},
		{"grandchildren", `setsid sh -c 'echo $$ >up; exec sleep 1000' >/dev/null 2>&1 & wait`, "guard"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			s.gate("up")
			s.vhost("m", tt.script)
			file := s.path("procs.json")
			s.write(file)
			cmd := s.supervisor(file, tt.guard)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(s.line("up"))
			if err != nil {
				t.Fatal(err)
			}
			handles := []int{s.handle(pid)}
			for _, guard := range s.guards() {
				handles = append(handles, s.handle(guard))
			}
			if want := map[string]int{"no-guard": 1, "guard": 2}[tt.guard]; len(handles) != want {
				t.Errorf("%d processes to wait for, want %d", len(handles), want)
			}
			cmd.Process.Kill()
			cmd.Wait()
			for _, handle := range handles {
				s.awaitEnd(handle)
			}
			s.empty()
		})
	}
}

// handle opens a handle of a process that is not our child.
func (s *stage) handle(pid int) int {
	s.t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return fd
}

func (s *stage) awaitEnd(handle int) {
	s.t.Helper()
	defer unix.Close(handle)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, 60_000)
		if err == unix.EINTR {
			continue
		}
		if n != 1 {
			s.t.Fatalf("a process of the killed supervisor is still there: %v", err)
		}
		return
	}
}

// A process that SIGKILL does not end is given up, reported, and holds up nobody. None
// can be had for a test, so this one is a child that no signal reaches.
func TestProcessThatHangsIsGivenUp(t *testing.T) {
	s := newStage(t)
	s.vhost("m", "exec sleep 1000")
	specs, err := parse(s.plan())
	if err != nil {
		t.Fatal(err)
	}
	session, err := newSession(specs, s.opts.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	session.killLimit = 1
	ctx, cancel := context.WithCancel(context.Background())
	var pid int
	s.on("m/vhost", Ready, func() {
		p := session.procs[0]
		pid = p.child.pid
		p.grace = 1
		p.child.group.mu.Lock()
		p.child.group.gone = true // nothing is sent to it
		p.child.group.mu.Unlock()
		cancel()
	})
	session.loop(ctx)
	if p := session.procs[0]; !p.left || !p.settled || p.exited {
		t.Errorf("process = %+v, want it given up", p)
	}
	result := session.finish() // its sweep finds the process by the mark, so that nothing stays here
	var status unix.WaitStatus
	unix.Wait4(pid, &status, 0, nil)
	if len(result.Left) != 1 || result.Left[0].PID != pid || result.Left[0].Process != "m/vhost" {
		t.Errorf("Left = %+v, want process %d", result.Left, pid)
	}
}

func TestLeftoversAreFoundByTheExactMark(t *testing.T) {
	s := newStage(t)
	other := newStage(t)
	other.opts.Mark = s.opts.Mark + "x"
	other.gate("up")
	v := other.vhost("m", "echo up >up; exec sleep 1000")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan *Result)
	go func() {
		result, _ := Run(ctx, other.plan(), &other.opts)
		done <- result
	}()
	other.line("up")
	if left, _, err := marked(s.opts.Mark).Find(); err != nil || len(left) != 0 {
		t.Errorf("Find of %q = %v, %v, want none", s.opts.Mark, left, err)
	}
	left, _, err := marked(other.opts.Mark).Find()
	if err != nil || len(left) != 1 || left[0].Label != v.ID || left[0].StartTime == 0 {
		t.Errorf("Find of %q = %v, %v, want the vhost", other.opts.Mark, left, err)
	}
	if self, err := proc.Self(); err != nil || self.StartTime == 0 || self.StartTime >= left[0].StartTime {
		t.Errorf("this process's start = %v, %v, want one before %d", self, err, left[0].StartTime)
	}
	cancel()
	<-done
}

package supervise

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/runtime/internal/proc"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/topology"
)

// A stage is a session of shell scripts in a directory of its own.
type stage struct {
	t     *testing.T
	dir   string
	opts  Options
	procs []*plan.Process

	mu     sync.Mutex
	events []Event
	hooks  map[string]func()
	fifos  map[string]*os.File
}

func newStage(t *testing.T) *stage {
	t.Helper()
	dir, err := os.MkdirTemp("", "cosim") // short, since it holds sockets
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, dir: dir, hooks: map[string]func(){}, fifos: map[string]*os.File{}}
	s.opts = Options{
		Mark: fmt.Sprintf("test-%x", sha256.Sum256([]byte(dir)))[:13],
		Dirs: []string{dir},
		Env:  []string{"PATH=" + os.Getenv("PATH"), "D=" + dir},
	}
	s.opts.Events = s.event
	t.Cleanup(func() {
		for _, f := range s.fifos {
			f.Close()
		}
		os.RemoveAll(dir)
	})
	return s
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

// device adds a device of a machine that runs a script. It is ready once executed.
func (s *stage) device(machine, id, script string) *plan.Process {
	return s.add(machine, id, topology.RoleDevice, "test-device", script)
}

// vhost adds a vhost that depends on the devices of its machine so far.
func (s *stage) vhost(machine, script string) *plan.Process {
	p := s.add(machine, "vhost", topology.RoleVhost, "test-vhost", script)
	for _, q := range s.procs {
		if q.Machine == machine && q != p {
			p.DependsOn = append(p.DependsOn, q.ID)
		}
	}
	return p
}

func (s *stage) add(machine, id string, role topology.Role, kind, script string) *plan.Process {
	p := &plan.Process{
		ID: machine + "/" + id, Machine: machine, Role: role, Kind: kind,
		Program: "/bin/sh", Args: []string{"-c", script}, Dir: s.dir,
		Timeout: "1m", Log: s.path(machine + "-" + id + ".log"),
		Stop: adapters.Stop{Signal: "TERM", Grace: "1h"}, // a test that needs the end of a grace would hang
	}
	s.procs = append(s.procs, p)
	return p
}

// helper makes a process run the test binary's own helper.
func (s *stage) helper(p *plan.Process, args ...string) {
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	p.Program, p.Args = exe, append([]string{"helper"}, args...)
}

// gate makes a named pipe in the stage's directory. A script waits there with
// `read x <NAME`, until open was called.
func (s *stage) gate(name string) {
	s.t.Helper()
	if err := unix.Mkfifo(s.path(name), 0o600); err != nil {
		s.t.Fatal(err)
	}
	f, err := os.OpenFile(s.path(name), os.O_RDWR, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	s.fifos[name] = f
}

func (s *stage) open(name string) { s.fifos[name].WriteString("go\n") }

// line reads a line that a script wrote into a gate.
func (s *stage) line(name string) string {
	s.t.Helper()
	f := s.fifos[name]
	f.SetReadDeadline(time.Now().Add(time.Minute))
	var line []byte
	for buf := make([]byte, 1); ; {
		if _, err := f.Read(buf); err != nil {
			s.t.Fatalf("waiting for a line in %s: %v", name, err)
		}
		if buf[0] == '\n' {
			return string(line)
		}
		line = append(line, buf[0])
	}
}

// on calls a function when a process comes to a state.
func (s *stage) on(id string, state State, f func()) { s.hooks[id+" "+string(state)] = f }

func (s *stage) event(e Event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	hook := s.hooks[e.Process.ID+" "+string(e.Process.State)]
	delete(s.hooks, e.Process.ID+" "+string(e.Process.State))
	s.mu.Unlock()
	if hook != nil {
		hook()
	}
}

// states lists the changes of state in their order: "m0/d ready".
func (s *stage) states() []string {
	var list []string
	last := map[string]State{}
	for _, e := range s.events {
		if id := e.Process.ID; id != "" && last[id] != e.Process.State {
			last[id] = e.Process.State
			list = append(list, id+" "+string(e.Process.State))
		}
	}
	return list
}

func (s *stage) plan() []plan.Process {
	procs := make([]plan.Process, len(s.procs))
	for i, p := range s.procs {
		procs[i] = *p
	}
	return procs
}

// run runs the session, and checks that it left no process.
func (s *stage) run(ctx context.Context) *Result {
	s.t.Helper()
	result, err := Run(ctx, s.plan(), &s.opts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.empty()
	if len(result.Left) > 0 {
		s.t.Errorf("Result.Left = %v, want none", result.Left)
	}
	return result
}

// empty checks that no process carries the mark, and that the guard is gone.
func (s *stage) empty() {
	s.t.Helper()
	if left, _, err := marked(s.opts.Mark).Find(); err != nil || len(left) > 0 {
		s.t.Errorf("Find() = %v, %v, want none", left, err)
	}
	if guards := s.guards(); len(guards) > 0 {
		s.t.Errorf("guards %v are left", guards)
	}
}

// guards lists the guards of the session.
func (s *stage) guards() []int {
	list, err := proc.All()
	if err != nil {
		s.t.Fatal(err)
	}
	var guards []int
	for _, pid := range list {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if string(cmdline) == guardName+"\x00"+s.opts.Mark+"\x00" {
			guards = append(guards, pid)
		}
	}
	return guards
}

// write puts the plan into a file.
func (s *stage) write(file string) {
	s.t.Helper()
	data, err := json.Marshal(s.plan())
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// supervisor returns a process that runs the plan in a file.
func (s *stage) supervisor(file, guard string) *exec.Cmd {
	s.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(exe, "helper", "supervise", file, s.opts.Mark, guard)
	cmd.Stderr = os.Stderr
	return cmd
}

func (s *stage) log(p *plan.Process) string {
	s.t.Helper()
	data, err := os.ReadFile(p.Log)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// state finds a process in a result.
func (s *stage) state(r *Result, p *plan.Process) ProcessState {
	s.t.Helper()
	for _, state := range r.Processes {
		if state.ID == p.ID {
			return state
		}
	}
	s.t.Fatalf("no %s in the result", p.ID)
	return ProcessState{}
}

// message is the failure's text with the stage's directory and all times made equal.
func (s *stage) message(r *Result) string {
	if r.First == nil {
		return ""
	}
	text := strings.ReplaceAll(r.First.Error(), s.dir, "DIR")
	words := strings.Split(text, " ")
	for i, w := range words {
		bare := strings.TrimRight(w, ",;:")
		if _, err := time.ParseDuration(bare); err == nil && i > 0 && words[i-1] == "after" {
			words[i] = "TIME" + w[len(bare):]
		}
	}
	return strings.Join(words, " ")
}

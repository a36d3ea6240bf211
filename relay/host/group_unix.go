//go:build unix

package host

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// A group is the process group of a process that was started here, which leads it. As long as the leader is not reaped its
// id belongs to nobody else.
type group struct {
	mu     sync.Mutex
	id     int // 0 before the start and after the end
	leader int
}

// prepare makes a command lead a group.
func prepare(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithUs(c.SysProcAttr)
}

func (g *group) begin(id int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.id, g.leader = id, id
}

// wait waits for the end of the leader, if that can be had without reaping it.
func (g *group) wait() { awaitExit(g.leader) }

// end reaps the leader and kills the rest of the group.
func (g *group) end(reap func() error) error {
	if canAwait {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.signal()
		g.id = 0
		return reap()
	}
	err := reap()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.signal()
	g.id = 0
	return err
}

func (g *group) kill() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.signal()
}

func (g *group) signal() error {
	if g.id == 0 {
		return nil
	}
	if err := syscall.Kill(-g.id, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("killing process group %d: %w", g.id, err)
	}
	return nil
}

func exitState(s *os.ProcessState) ExitState {
	status, ok := s.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return ExitState{Status: -1, Signal: signalName(status.Signal())}
	}
	return ExitState{Status: s.ExitCode()}
}

// signalNames are those of signal(7) that end a process.
var signalNames = map[syscall.Signal]string{
	syscall.SIGABRT: "SIGABRT", syscall.SIGALRM: "SIGALRM", syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE",
	syscall.SIGHUP: "SIGHUP", syscall.SIGILL: "SIGILL", syscall.SIGINT: "SIGINT", syscall.SIGKILL: "SIGKILL",
	syscall.SIGPIPE: "SIGPIPE", syscall.SIGQUIT: "SIGQUIT", syscall.SIGSEGV: "SIGSEGV", syscall.SIGSYS: "SIGSYS",
	syscall.SIGTERM: "SIGTERM", syscall.SIGTRAP: "SIGTRAP", syscall.SIGUSR1: "SIGUSR1", syscall.SIGUSR2: "SIGUSR2",
	syscall.SIGXCPU: "SIGXCPU", syscall.SIGXFSZ: "SIGXFSZ",
}

func signalName(s syscall.Signal) string {
	if name, ok := signalNames[s]; ok {
		return name
	}
	return fmt.Sprintf("number %d", int(s))
}

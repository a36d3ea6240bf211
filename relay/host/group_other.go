//go:build !unix

package host

import (
	"os"
	"os/exec"
	"sync"
)

// A group is a process alone, where there are no groups.
type group struct {
	mu  sync.Mutex
	one *os.Process
}

func prepare(*exec.Cmd) {}

func (g *group) begin(id int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.one, _ = os.FindProcess(id)
}

func (g *group) wait()                       {}
func (g *group) end(reap func() error) error { return reap() }

func (g *group) kill() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.one == nil {
		return nil
	}
	g.one.Kill() // one that has ended is fine
	return nil
}

func exitState(s *os.ProcessState) ExitState { return ExitState{Status: s.ExitCode()} }

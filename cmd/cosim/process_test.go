package main

import (
	"bytes"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A process is a cosim that runs.
type process struct {
	*exec.Cmd
	t              *testing.T
	stdout, stderr *stream
	done           chan struct{}
}

func startProcess(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: cmd, t: t, stdout: newStream(), stderr: newStream(), done: make(chan struct{})}
	if cmd.Stdout == nil {
		cmd.Stdout = p.stdout
	}
	if cmd.Stderr == nil {
		cmd.Stderr = p.stderr
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		cmd.Wait()
		p.stdout.end()
		p.stderr.end()
		close(p.done)
	}()
	t.Cleanup(func() {
		for range 2 {
			select {
			case <-p.done:
			default:
				cmd.Process.Signal(syscall.SIGINT) // twice kills its session at once
			}
		}
		p.wait()
	})
	return p
}

// wait waits for the end and returns the exit code.
func (p *process) wait() int {
	select {
	case <-p.done:
	case <-time.After(patience):
		p.Process.Kill()
		<-p.done
		p.t.Errorf("%s did not end in %v\n%s", p.Cmd, patience, p.stderr)
	}
	return p.ProcessState.ExitCode()
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// await waits until standard error holds a text.
func (p *process) await(text string) {
	p.t.Helper()
	if !p.stderr.await(text) {
		p.t.Fatalf("%s did not say %q\n%s", p.Cmd, text, p.stderr)
	}
}

// A stream is the output of a process, which can be waited for.
type stream struct {
	mu    sync.Mutex
	more  *sync.Cond
	text  bytes.Buffer
	ended bool
}

func newStream() *stream {
	s := &stream{}
	s.more = sync.NewCond(&s.mu)
	return s
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more.Broadcast()
	return s.text.Write(p)
}

func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.more.Broadcast()
}

func (s *stream) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await waits until the stream holds a text, and reports false where it never will.
func (s *stream) await(text string) bool {
	late := false
	defer time.AfterFunc(patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		late = true
		s.more.Broadcast()
	}).Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !strings.Contains(s.text.String(), text) {
		if s.ended || late {
			return false
		}
		s.more.Wait()
	}
	return true
}

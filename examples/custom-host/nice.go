package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"github.com/cosim-go/cosim/relay/host"
)

// Nice starts processes with a low priority, so that they leave the machine to others.
type nice struct{}

func (nice) Start(_ context.Context, c host.Command) (host.Process, error) {
	path, err := exec.LookPath(c.Path)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("nice", append([]string{"-n", "10", path}, c.Args...)...)
	cmd.Env, cmd.Dir = c.Env, c.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, inErr := cmd.StdinPipe()
	stdout, outErr := cmd.StdoutPipe()
	stderr, errErr := cmd.StderrPipe()
	if err := errors.Join(inErr, outErr, errErr); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{Process: cmd.Process, stdin: stdin, stdout: stdout, stderr: stderr, ended: sync.OnceValues(cmd.Process.Wait)}, nil
}

// A process is one that runs under nice.
type process struct {
	*os.Process
	stdin          io.WriteCloser
	stdout, stderr io.ReadCloser
	ended          func() (*os.ProcessState, error)
}

func (p *process) Stdin() io.WriteCloser { return p.stdin }
func (p *process) Stdout() io.ReadCloser { return p.stdout }
func (p *process) Stderr() io.ReadCloser { return p.stderr }
func (p *process) PID() int              { return p.Pid }

// Kill ends the process with all that it has started, which is in the same group.
func (p *process) Kill() error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }

func (p *process) Wait() (host.ExitState, error) {
	state, err := p.ended()
	if err != nil {
		return host.ExitState{Status: -1}, err
	}
	exit := host.ExitState{Status: state.ExitCode()}
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		exit.Signal = strconv.Itoa(int(status.Signal()))
	}
	return exit, nil
}

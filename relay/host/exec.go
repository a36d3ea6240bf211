package host

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
)

// Exec starts processes of this machine. Each leads a process group of its own, which Kill ends as a whole, and which is
// ended when the process itself has ended: nothing of the group is left then.
//
// On Linux the kernel kills the process when this program is killed (PR_SET_PDEATHSIG, see prctl(2)). That does
// not reach processes that it has started in turn, nor one that changes its user or group when it is executed: these
// have the end of their standard input to go by. What leaves the group, as a daemon does, is not reached at all; it
// only loses the pipes.
var Exec Starter = execStarter{}

type execStarter struct{}

// An execProcess is a process that this program has started.
type execProcess struct {
	command  *exec.Cmd
	in       *os.File
	out, err *os.File
	group    group

	done  chan struct{} // closed when it has ended
	state ExitState
	fault error
}

// Start starts a process on a thread of its own, which it keeps until the process has ended: the kernel takes the end of that
// thread for the end of the program.
func (execStarter) Start(ctx context.Context, c Command) (Process, error) {
	p := &execProcess{command: exec.Command(c.Path, c.Args...), done: make(chan struct{})}
	p.command.Env, p.command.Dir = c.Env, c.Dir
	theirs, err := p.pipes()
	if err != nil {
		return nil, err
	}
	prepare(p.command)
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.command.Start()
		closeAll(theirs...)
		if err == nil {
			p.group.begin(p.command.Process.Pid)
		}
		started <- err
		if err == nil {
			p.end()
		}
	}()
	select {
	case err = <-started:
	case <-ctx.Done():
		go p.discard(started)
		return nil, context.Cause(ctx)
	}
	if err != nil {
		closeAll(p.in, p.out, p.err)
		return nil, err
	}
	return p, nil
}

// discard ends a process that nobody waits for, if its start comes to something.
func (p *execProcess) discard(started <-chan error) {
	if <-started == nil {
		p.Kill()
		<-p.done
	}
	closeAll(p.in, p.out, p.err)
}

// pipes makes the standard streams, and returns the ends that are the process's.
func (p *execProcess) pipes() (theirs []io.Closer, err error) {
	var all []io.Closer
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		if r, w, err = os.Pipe(); err == nil {
			all = append(all, r, w)
		}
		return r, w
	}
	in, ourIn := pipe()
	ourOut, out := pipe()
	ourErr, errs := pipe()
	if err != nil {
		closeAll(all...)
		return nil, err
	}
	p.in, p.out, p.err = ourIn, ourOut, ourErr
	p.command.Stdin, p.command.Stdout, p.command.Stderr = in, out, errs
	return []io.Closer{in, out, errs}, nil
}

func closeAll(closers ...io.Closer) {
	for _, c := range closers {
		c.Close()
	}
}

// end waits for the process, ends its group, and reaps it.
func (p *execProcess) end() {
	defer close(p.done)
	p.group.wait()
	err := p.group.end(p.command.Wait)
	if p.command.ProcessState == nil {
		p.state, p.fault = ExitState{Status: -1}, err
		return
	}
	p.state = exitState(p.command.ProcessState)
}

func (p *execProcess) Stdin() io.WriteCloser { return p.in }
func (p *execProcess) Stdout() io.ReadCloser { return p.out }
func (p *execProcess) Stderr() io.ReadCloser { return p.err }
func (p *execProcess) PID() int              { return p.command.Process.Pid }
func (p *execProcess) Kill() error           { return p.group.kill() }

func (p *execProcess) Wait() (ExitState, error) {
	<-p.done
	return p.state, p.fault
}

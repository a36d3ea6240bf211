// Package tool runs programs that do one job and end: qemu-img, the recipes of images,
// questions to a QEMU binary.
package tool

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Command is a program to be run without a shell, in a process group of its own and
// with nothing to read. It dies with this process, however that ends.
type Command struct {
	Path   string // absolute
	Args   []string
	Dir    string        // empty means the working directory
	Env    []string      // "name=value", on top of the inherited environment
	Output io.Writer     // of standard output and error; nil keeps the last lines alone
	Grace  time.Duration // between SIGTERM and SIGKILL when the context ends; 0 means 5 s
}

const defaultGrace = 5 * time.Second

// A Failure is a program that did not do its job.
type Failure struct {
	Path   string
	Status int            // exit status; -1 where a signal ended the program
	Signal syscall.Signal // 0 where none did
	Cause  error          // why it was stopped; nil where it ended by itself
	Tail   []string       // the last lines of its output
}

func (e *Failure) Error() string {
	var text string
	switch {
	case e.Cause != nil:
		text = fmt.Sprintf("%s was stopped: %v", e.Path, e.Cause)
	case e.Signal != 0:
		text = fmt.Sprintf("%s was ended by signal %s", e.Path, unix.SignalName(e.Signal))
	default:
		text = fmt.Sprintf("%s exited with status %d", e.Path, e.Status)
	}
	switch len(e.Tail) {
	case 0:
		return text
	case 1:
		return text + ": " + e.Tail[0]
	}
	return text + "; last lines of its output:\n\t" + strings.Join(e.Tail, "\n\t")
}

func (e *Failure) Unwrap() error { return e.Cause }

// Run runs the command until it ends. When the context ends first, the command's process
// group gets SIGTERM and, after the grace, SIGKILL. Whatever of the group is left when
// the program has ended is killed. The error is a [*Failure] where the program was
// started.
func Run(ctx context.Context, c Command) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	done := make(chan error)
	go func() {
		// The kernel sends the signal of PR_SET_PDEATHSIG when the thread ends that
		// started the program. This one stays until the program has ended, and then
		// ends with the goroutine, since it is not unlocked.
		runtime.LockOSThread()
		done <- run(ctx, c)
	}()
	return <-done
}

func run(ctx context.Context, c Command) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path: c.Path, Args: append([]string{c.Path}, c.Args...), Dir: c.Dir, Env: append(os.Environ(), c.Env...),
		Stdout: w, Stderr: w,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return fmt.Errorf("starting %s: %w", c.Path, err)
	}
	out := &tail{next: c.Output}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		io.Copy(out, r)
	}()
	cause := await(ctx, cmd.Process.Pid, c.grace())
	err = cmd.Wait()
	// A process that has left the group may hold the pipe for as long as it likes.
	r.SetReadDeadline(time.Now().Add(time.Second))
	<-copied
	if err == nil && cause == nil {
		if out.err != nil {
			return fmt.Errorf("keeping the output of %s: %w", c.Path, out.err)
		}
		return nil
	}
	failure := &Failure{Path: c.Path, Cause: cause, Tail: out.lines(), Status: cmd.ProcessState.ExitCode()}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		failure.Signal = ws.Signal()
	}
	return failure
}

func (c Command) grace() time.Duration {
	if c.Grace == 0 {
		return defaultGrace
	}
	return c.Grace
}

// await returns when the leader of a process group has ended and the rest of the group
// is killed. The leader stays a zombie until then, so that the group's number cannot
// belong to another one. The error is why the group was stopped, if it was.
func await(ctx context.Context, pid int, grace time.Duration) (cause error) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		cause = context.Cause(ctx)
		unix.Kill(-pid, unix.SIGTERM)
		kill := time.AfterFunc(grace, func() { unix.Kill(-pid, unix.SIGKILL) })
		<-ended
		kill.Stop()
	}
	unix.Kill(-pid, unix.SIGKILL)
	return cause
}

package supervise

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/qmp"
)

// A condition is one thing that has to happen until a process is ready.
type condition struct {
	unmet func() string                   // says what has not happened
	await func(ctx context.Context) error // returns nil once it has
	look  func() bool                     // whether it has happened, for one that can be seen after the end; or nil
	held  atomic.Bool                     // await returned nil
}

// conditions lists what a process is waited for.
func (p *process) conditions(s *session) []*condition {
	var list []*condition
	if p.Ready.Socket != "" {
		list = append(list, socketCondition(p.Ready.Socket))
	}
	if p.Ready.File != "" {
		list = append(list, fileCondition(p.Ready.File))
	}
	if p.readyLog != nil {
		list = append(list, p.logCondition())
	}
	if len(p.Ready.Exec) > 0 {
		list = append(list, p.execCondition(s))
	}
	if p.Ready.QMP != "" {
		list = append(list, qmpCondition(p.Ready.QMP))
	}
	return list
}

// awaitAll waits until all conditions hold or the context ends, and tells which do not.
func awaitAll(ctx context.Context, conditions []*condition) (unmet []string) {
	var wg sync.WaitGroup
	for _, c := range conditions {
		wg.Go(func() { c.held.Store(c.await(ctx) == nil) })
	}
	wg.Wait()
	for _, c := range conditions {
		if !c.held.Load() {
			unmet = append(unmet, c.unmet())
		}
	}
	return unmet
}

// allHold reports whether all conditions held, or have come to hold since.
func allHold(conditions []*condition) bool {
	for _, c := range conditions {
		if !c.held.Load() && (c.look == nil || !c.look()) {
			return false
		}
	}
	return true
}

func fileCondition(path string) *condition {
	exists := func() bool {
		_, err := os.Lstat(path)
		return err == nil
	}
	return &condition{
		unmet: func() string { return "no file at " + path },
		look:  exists,
		await: func(ctx context.Context) error { return poll(ctx, exists) },
	}
}

func (p *process) logCondition() *condition {
	return &condition{
		unmet: func() string { return fmt.Sprintf("no line of its log matches %q", p.Ready.Log) },
		look: func() bool {
			select {
			case <-p.logSeen:
				return true
			default:
				return false
			}
		},
		await: func(ctx context.Context) error {
			select {
			case <-p.logSeen:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	}
}

// qmpCondition waits for a monitor that greets and answers. A QEMU that waits for a
// device greets and serves nothing, so the connection is kept until it does, and closed
// then, which leaves the monitor to others.
func qmpCondition(path string) *condition {
	return &condition{
		unmet: func() string { return "no answer from its monitor at " + path },
		await: func(ctx context.Context) error {
			return poll(ctx, func() bool {
				client, err := qmp.Dial(ctx, path)
				if err != nil {
					return false
				}
				defer client.Close()
				return client.Negotiate(ctx) == nil
			})
		},
	}
}

// execCondition runs a command until it exits with 0. It is started as all children
// are, and everything in its group is killed when its time is over.
func (p *process) execCondition(s *session) *condition {
	last := "has not been run to its end"
	return &condition{
		unmet: func() string { return fmt.Sprintf("its probe %q %s", strings.Join(p.Ready.Exec, " "), last) },
		await: func(ctx context.Context) error {
			for {
				err := p.runProbe(ctx, s)
				if err == nil {
					return nil
				}
				if ctx.Err() == nil {
					last = "failed: " + err.Error()
				}
				if err := pause(ctx, execPause); err != nil {
					return err
				}
			}
		},
	}
}

func (p *process) runProbe(ctx context.Context, s *session) error {
	ctx, cancel := context.WithTimeout(ctx, execLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Ready.Exec[0], p.Ready.Exec[1:]...)
	cmd.Dir = p.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	err := s.starter.call(func() error {
		cmd.Env = s.spawner.env(p.spec)
		return cmd.Start()
	})
	if err != nil {
		return err
	}
	return cmd.Wait()
}

// poll looks until it sees what it looks for, at first often and then after each eighth
// of the time that it has waited.
func poll(ctx context.Context, look func() bool) error {
	for began := time.Now(); !look(); {
		if err := pause(ctx, min(max(time.Since(began)/8, pollMin), pollMax)); err != nil {
			return err
		}
	}
	return nil
}

// pause waits for a time, unless the context ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/launch"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/session"
)

// launch carries out a plan and shows what happens. The text is that of the plan's
// file, nil for a plan that was just made.
func (c *cli) launch(p *plan.Plan, text []byte, f *runFlags) error {
	ids := make([]string, len(p.Launch.Processes))
	for i := range p.Launch.Processes {
		ids[i] = p.Launch.Processes[i].ID
	}
	show := newDisplay(c.stderr, ids)
	defer show.close()
	ctx, kill, release := interrupts(show)
	defer release()
	console := c.newConsole(p, f.console, show)
	defer console.close()

	started := time.Now()
	result, err := launch.Run(ctx, p, &launch.Options{
		Text: text, Keep: f.keep, Overcommit: f.overcommit, StrictMemory: f.strict, Kill: kill,
		Observe: func(e launch.Event) {
			switch {
			case e.Process != nil:
				show.process(*e.Process, e.Text)
				console.follow(*e.Process)
			case e.Warning != "":
				show.note("cosim: warning: "+e.Warning, e.Hint)
			default:
				show.note("cosim: " + e.Note)
			}
		},
	})
	console.close()
	show.close()
	if err != nil {
		return launchError(err)
	}
	return c.summarize(result, time.Since(started), f)
}

// interrupts turns the first SIGINT, SIGTERM or SIGHUP into the end of the context, and
// the second into one of the other channel, which kills the session at once.
func interrupts(show *display) (ctx context.Context, kill <-chan struct{}, release func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	// Who read our output may have gone, as head does: that must not end this process
	// before it has ended the session.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, unix.SIGPIPE)
	now, done := make(chan struct{}), make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case s := <-signals:
				switch n {
				case 0:
					show.note(fmt.Sprintf("cosim: %s: ending the session; once more kills it at once", unix.SignalName(s.(unix.Signal))))
					cancel(&launch.InterruptError{Signal: unix.SignalName(s.(unix.Signal)), ExitCode: 128 + int(s.(unix.Signal))})
				case 1:
					show.note("cosim: killing the session")
					close(now)
				}
			}
		}
	}()
	return ctx, now, func() {
		signal.Stop(signals)
		signal.Stop(broken)
		close(done)
		cancel(nil)
	}
}

// launchError prints why a session did not come to run its processes.
func launchError(err error) error {
	var refusal *launch.RefusedError
	if !errors.As(err, &refusal) {
		return &exitError{code: launch.ExitCode(err), msg: err.Error()}
	}
	out := &exitError{code: exitRefused}
	var lines []string
	for i, p := range refusal.Problems {
		lines = append(lines, p.Message)
		if p.Hint != "" && i < len(refusal.Problems)-1 {
			lines = append(lines, "hint: "+p.Hint)
		} else if p.Hint != "" {
			out.hints = []string{p.Hint}
		}
	}
	out.msg = strings.Join(lines, "\n")
	return out
}

// summarize says how the session ended.
func (c *cli) summarize(r *launch.Result, took time.Duration, f *runFlags) error {
	name := r.Session.Name
	for _, process := range r.Processes {
		for _, line := range process.Verdict {
			fmt.Fprintf(c.stderr, "cosim: %s said: %s\n", process.ID, clean(line))
		}
	}
	if r.Cleanup != nil {
		fmt.Fprintf(c.stderr, "cosim: warning: not everything could be removed: %v\n", r.Cleanup)
	}
	for _, left := range r.Left {
		fmt.Fprintf(c.stderr, "cosim: warning: process %d does not end although it was killed: it hangs in the kernel\n", left.PID)
	}
	if c.format == "json" {
		if err := c.printState(r.Session); err != nil {
			return err
		}
	}
	end := fmt.Sprintf("session %q ", name)
	kept := ""
	if f.keep {
		kept = "; pools and overlays are kept until " + cleanCommand(r.Session)
	}
	if r.ExitCode == launch.ExitFine {
		fmt.Fprintf(c.stderr, "cosim: %sended well after %s%s\n", end, took.Round(100*time.Millisecond), kept)
		return nil
	}
	if r.First == nil {
		return &exitError{code: r.ExitCode, msg: fmt.Sprintf("%s%v after %s%s", end, r.Interrupted, took.Round(100*time.Millisecond), kept)}
	}
	return failed(r, c.commandHint(r, f), end, kept)
}

// failed describes the first failure: the process, what happened, the last lines of its
// log, and how to go on.
func failed(r *launch.Result, hint, end, kept string) error {
	f := r.First
	lines := []string{f.Subject() + " " + f.What}
	if len(f.Log) > 0 {
		lines = append(lines, "last lines of "+f.LogFile+":")
		for _, line := range f.Log {
			lines = append(lines, "  "+clean(line))
		}
	}
	lines = append(lines, end+"failed"+kept)
	out := &exitError{code: r.ExitCode, msg: strings.Join(lines, "\n")}
	if f.Hint != "" {
		out.hints = append(out.hints, f.Hint)
	}
	out.hints = append(out.hints, hint)
	return out
}

func (c *cli) printState(names session.Layout) error {
	text, err := os.ReadFile(names.StateFile())
	if err != nil {
		return &exitError{code: exitFailed, msg: "reading the session's state: " + err.Error()}
	}
	_, err = c.stdout.Write(text)
	return err
}

func checkConsole(p *plan.Plan, machine string) error {
	if machine == "" {
		return nil
	}
	process := p.Launch.Process(machine + "/vhost")
	switch {
	case process == nil:
		ids := make([]string, len(p.Launch.Machines))
		for i := range p.Launch.Machines {
			ids[i] = p.Launch.Machines[i].ID
		}
		return &exitError{code: exitUsage, msg: fmt.Sprintf("--console: no machine %q", machine), hints: []string{"machines: " + strings.Join(ids[:min(len(ids), 16)], ", ")}}
	case process.Console == nil && process.Log == "":
		return usage("--console: machine %q has no serial console", machine)
	}
	return nil
}

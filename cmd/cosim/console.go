package main

import (
	"context"
	"fmt"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/supervise"
)

// A console joins one machine's serial line to this terminal, or copies its output to
// standard output where there is none. For a vhost without a serial line, it copies the
// log. Its zero value does nothing.
type console struct {
	vhost  string // identifier of the vhost
	start  func(context.Context)
	cancel context.CancelFunc

	once sync.Once
	done sync.WaitGroup
}

func (c *cli) newConsole(p *plan.Plan, machine string, show *display) *console {
	if machine == "" {
		return &console{}
	}
	vhost := p.Launch.Process(machine + "/vhost")
	line := supervise.Console{Log: vhost.Log}
	if vhost.Console != nil {
		line = supervise.Console(*vhost.Console)
	}
	out := &console{vhost: vhost.ID, start: func(ctx context.Context) {
		stdout := show.above(c.stdout)
		line.Follow(ctx, stdout)
		stdout.Close()
	}}
	in, ok := c.stdin.(*os.File)
	if stdout, isFile := c.stdout.(*os.File); ok && isFile && vhost.Console != nil &&
		term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(stdout.Fd())) {
		out.start = func(ctx context.Context) { c.interactive(ctx, line, in, show, machine) }
	}
	return out
}

// interactive gives the terminal to the guest until Ctrl-] or the end of the session.
// In raw mode Ctrl-C reaches the guest and not this process.
func (c *cli) interactive(ctx context.Context, line supervise.Console, in *os.File, show *display, machine string) {
	show.note(fmt.Sprintf("cosim: console of %s; Ctrl-] leaves it, the session goes on", machine))
	old, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		show.note("cosim: the terminal cannot be made raw: " + err.Error())
		return
	}
	show.pause(true)
	line.Attach(ctx, in, c.stdout)
	term.Restore(int(in.Fd()), old)
	fmt.Fprintln(c.stdout)
	show.pause(false)
}

// follow starts the console with its vhost.
func (c *console) follow(p supervise.ProcessState) {
	if p.ID != c.vhost || p.PID == 0 {
		return
	}
	c.once.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		c.cancel = cancel
		c.done.Go(func() { c.start(ctx) })
	})
}

// close ends the console once the rest of the output is copied. It may be called twice.
func (c *console) close() {
	if c.cancel != nil {
		c.cancel()
	}
	c.done.Wait()
}

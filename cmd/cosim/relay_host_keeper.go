package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	relayhost "github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/runtime/supervise"
)

// A keeper starts the processes of cartridges, and sees to it that none is left: they and all that they start carry a
// mark in their environment. A guard, a process of its own, kills what carries it should this one be killed.
type keeper struct {
	j     *journal
	mark  string
	guard *supervise.Guard
}

func newKeeper(j *journal) (*keeper, error) {
	k := &keeper{j: j, mark: "relay-host-" + rand.Text()}
	var err error
	if k.guard, err = supervise.StartGuard(k.mark); err != nil {
		return nil, fmt.Errorf("starting the guard of the cartridges: %w", err)
	}
	return k, nil
}

// program returns the provider of a program.
func (k *keeper) program(path string) relayhost.Provider {
	return relayhost.Program(nil, relayhost.Command{Path: path, Env: append(os.Environ(), session.MarkVariable+"="+k.mark)})
}

// inspect starts a program once and returns what it says of itself. An error tells how it ended, and with which last words.
func (k *keeper) inspect(ctx context.Context, path string) (*manifest.Cartridge, error) {
	w := &witness{Provider: k.program(path)}
	found, err := relayhost.Inspect(ctx, w, nil)
	if err == nil || w.link == nil {
		return found, err
	}
	<-w.link.Done()
	end := w.link.Exit()
	text := strings.TrimSpace(end.Stderr)
	switch {
	case end.Signal == "" && text != "":
		return nil, fmt.Errorf("%w; it %s, and wrote:\n%s", err, end.ExitState, text)
	case end.Signal == "":
		return nil, fmt.Errorf("%w; it %s", err, end.ExitState)
	case text != "":
		return nil, fmt.Errorf("%w; it wrote:\n%s", err, text)
	}
	return nil, err
}

// A witness is a provider that remembers what it opened.
type witness struct {
	relayhost.Provider
	link relayhost.Link
}

func (w *witness) Open(ctx context.Context) (relayhost.Link, error) {
	var err error
	w.link, err = w.Provider.Open(ctx)
	return w.link, err
}

// sweepPatience is how long killing what is left may take.
const sweepPatience = 5 * time.Second

// kill kills every process of a cartridge at once, and returns how many there were.
func (k *keeper) kill() int {
	ctx, cancel := context.WithTimeout(context.Background(), sweepPatience)
	defer cancel()
	killed, left := supervise.KillLeftovers(ctx, k.mark)
	for _, p := range left {
		k.j.say("process %d of a cartridge cannot be killed", p.PID)
	}
	return len(killed)
}

// end kills what cartridges that have ended left.
func (k *keeper) end() {
	if n := k.kill(); n > 0 {
		k.j.say("killed what cartridges left: %s", countProcesses(n))
	}
	k.guard.Dismiss()
}

func countProcesses(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

// untilSignal returns a context that ends with the first SIGINT, SIGTERM or SIGHUP; the second kills all cartridges.
func (k *keeper) untilSignal() (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	broken := make(chan os.Signal, 1) // a reader of the journal that goes does not end the host
	signal.Notify(broken, unix.SIGPIPE)
	over := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; ; n++ {
			select {
			case s := <-signals:
				name := unix.SignalName(s.(unix.Signal))
				if n == 1 {
					k.j.say("%s: ending; once more kills the cartridges at once", name)
					cancel(&signalError{s.(unix.Signal)})
					continue
				}
				k.j.say("%s: killed %s", name, countProcesses(k.kill()))
			case <-over:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(broken)
		close(over)
		<-done
		cancel(nil)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/cosim-go/cosim/cmd/cosim/internal/socket"
	relayhost "github.com/cosim-go/cosim/relay/host"
	"github.com/cosim-go/cosim/relay/manifest"
)

func (c *cli) hostCommand() *cobra.Command {
	var connect string
	var retry bool
	cmd := &cobra.Command{
		Use:   "host --connect PATH PROGRAM...",
		Short: "Serve cartridges to a switch",
		Long: `Join the switch that listens on the Unix socket PATH, and serve the cartridges that the programs
are. Each is started once at first, to learn its caps, and again when a request needs it; one
that dies is started again by the next request. Of programs that serve a cap equally well the
first one here does. What a cartridge writes to standard error is printed with its name.

A program that is no cartridge is named and left out; without one that is, nothing is served.
With --retry the host waits for a switch that is not there yet, and for one that was lost, while
its cartridges go on.

SIGINT, SIGTERM and SIGHUP end it in order: each cartridge sees the end of its input and has two
seconds to leave. A second one kills them at once. No process of a cartridge outlives the host,
not even when it is killed itself. Exit codes: 2 wrong usage, 3 refused before anything was
served, 4 the switch was lost, 130, 143 and 129 ended by that signal.`,
		Args: atLeastOne("a program"),
		PreRunE: func(*cobra.Command, []string) error {
			if connect == "" {
				return usage("cosim relay host needs --connect PATH; see cosim relay host --help")
			}
			return refusedSocket(socket.Check("connect to", connect))
		},
		RunE: func(_ *cobra.Command, programs []string) error { return c.runHost(connect, retry, programs) },
	}
	cmd.Flags().StringVar(&connect, "connect", "", "socket of the switch")
	cmd.Flags().BoolVar(&retry, "retry", false, "wait for a switch that is not there, or was lost")
	return cmd
}

func (c *cli) runHost(connect string, retry bool, programs []string) error {
	j := newJournal(c.stderr)
	defer j.close()
	keep, err := newKeeper(j)
	if err != nil {
		return refused(err.Error())
	}
	ctx, release := keep.untilSignal()
	defer release()
	defer keep.end() // while signals are taken still
	h := relayhost.New(&relayhost.Options{Logger: j.logger(), Stay: retry})
	defer h.Close()
	err = serveCartridges(ctx, h, keep, connect, retry, programs)
	var signaled *signalError
	if errors.As(context.Cause(ctx), &signaled) {
		return silent(128 + int(signaled.signal))
	}
	return err
}

// serveCartridges registers programs and serves them until ctx ends, or the switch is lost.
func serveCartridges(ctx context.Context, h *relayhost.Host, keep *keeper, connect string, retry bool, programs []string) error {
	served := 0
	for _, p := range inspectAll(ctx, keep, programs) {
		if p.err == nil {
			p.err = h.Register(relayhost.Registration{Install: p.found.Install(), Groups: p.found.Groups, Provider: keep.program(p.path)})
		}
		switch {
		case p.err == nil:
			served++
			keep.j.say("cartridge %q: %s, %s", p.found.Install().ID, p.name, plural(len(p.found.Caps()), "cap"))
		case ctx.Err() == nil:
			keep.j.say("%q is left out: %v", p.name, p.err)
		}
	}
	if served == 0 && ctx.Err() == nil {
		return refused("none of the programs is a cartridge that can be served")
	}
	for wait := retryFirst; ctx.Err() == nil; wait = min(2*wait, retryMost) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", connect)
		if err != nil && !retry && ctx.Err() == nil {
			return noSwitch(connect, err)
		}
		if err == nil {
			keep.j.say("connected to %q", connect)
			wait = retryFirst
			err = lostSwitch(h.Run(ctx, conn))
			if !retry && ctx.Err() == nil {
				return &exitError{code: exitFailed, msg: fmt.Sprintf("the switch at %q was lost: %v", connect, err)}
			}
		}
		if ctx.Err() == nil {
			keep.j.say("no switch at %q: %v; trying again", connect, socket.Reason(err))
			pause(ctx, wait)
		}
	}
	return nil
}

// How long a host waits before it tries again to connect: twice as long each time.
const (
	retryFirst = 100 * time.Millisecond
	retryMost  = 5 * time.Second
)

// lostSwitch returns why a host serves no more.
func lostSwitch(err error) error {
	if err == nil {
		return errors.New("it closed the connection")
	}
	return err
}

// pause lasts that long, but not beyond the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// An inspected is a program with what it says of itself, or why it is no cartridge.
type inspected struct {
	name, path string
	found      *manifest.Cartridge
	err        error
}

// inspectAll starts each program once, all at the same time.
func inspectAll(ctx context.Context, keep *keeper, programs []string) []*inspected {
	var all sync.WaitGroup
	var list []*inspected
	for _, name := range programs {
		p := &inspected{name: name}
		list = append(list, p)
		all.Go(func() {
			if p.path, p.err = findProgram(name); p.err == nil {
				p.found, p.err = keep.inspect(ctx, p.path)
			}
		})
	}
	all.Wait()
	return list
}

// findProgram returns the absolute path of a program that is named as in a shell.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		var e *exec.Error
		if errors.As(err, &e) {
			err = plainError(e.Err)
		}
		return "", err
	}
	return filepath.Abs(path)
}

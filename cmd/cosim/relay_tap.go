package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/cmd/cosim/internal/socket"
	"github.com/cosim-go/cosim/cmd/cosim/internal/tap"
)

func (c *cli) tapCommand() *cobra.Command {
	full := false
	cmd := &cobra.Command{
		Use:   "tap LISTEN CONNECT",
		Short: "Watch the frames between two Unix sockets",
		Long: `Listen on the socket LISTEN, join each connection with a new one to the socket CONNECT, and
print the frames that pass. Bytes pass unchanged, in both directions at once; so does the
end of each direction. What is no frame is said once and passed on all the same. A reader
of the output that is slow, or pauses, holds up the traffic: no frame goes unprinted.

A line has the number of the connection, > for what comes from the side that connected to
LISTEN and < for what comes back, the offset in that direction, the type and the fields:

    1 > @49 chunk id=0a1b2c3d-4e5f-4081-92a3-b4c5d6e7f809 seq=2 chunk_index=0 payload=[5]"hello"

With --format json each line is an object; its fields are those of a vector file.

SIGINT, SIGTERM and SIGHUP end the tap and its connections, and the socket LISTEN, which it
made, is removed; an output that takes nothing is waited for a second. Exit codes: 2 wrong
usage, 3 the tap cannot listen, 4 it cannot go on, 130, 143 and 129 ended by that signal.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("%s takes two sockets, LISTEN and CONNECT; see %s --help", cmd.CommandPath(), cmd.CommandPath())
			}
			if filepath.Clean(args[0]) == filepath.Clean(args[1]) {
				return usage("LISTEN and CONNECT are both %q: the tap would connect to itself", args[0])
			}
			return nil
		},
		PreRunE: func(*cobra.Command, []string) error { return c.checkFormat() },
		RunE:    func(_ *cobra.Command, args []string) error { return c.tap(args[0], args[1], full) },
	}
	c.formatFlag(cmd)
	cmd.Flags().BoolVar(&full, "full", false, "print payloads and values of meta in full")
	return cmd
}

// outputPatience is how long a tap that is to end waits for its output to take what there is.
const outputPatience = time.Second

func (c *cli) tap(listen, connect string, full bool) error {
	ctx, release := untilSignal(unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	defer release()
	t, err := tap.New(listen, connect, c.tapReport(full), func(text string) {
		fmt.Fprintln(c.stderr, "cosim: "+text)
	})
	if refusal := refusedSocket(err); refusal != nil {
		return refusal
	}
	fmt.Fprintf(c.stderr, "cosim: listening on %q, for connections to %q\n", listen, connect)
	ended := make(chan error, 1)
	go func() { ended <- t.Serve(ctx) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		// The connections are closed. What is left is a line for a reader who takes none.
		select {
		case err = <-ended:
		case <-time.After(outputPatience):
		}
	}
	if err != nil {
		return &exitError{code: exitFailed, msg: err.Error()}
	}
	var signaled *signalError
	errors.As(context.Cause(ctx), &signaled)
	return silent(128 + int(signaled.signal))
}

// refusedSocket returns what a command ends with when there can be no socket, nil for any other error.
func refusedSocket(err error) error {
	var refusal *socket.RefusedError
	switch {
	case !errors.As(err, &refusal):
		return nil
	case refusal.Hint == "":
		return refused(refusal.Message)
	}
	return refused(refusal.Message, refusal.Hint)
}

func (c *cli) tapReport(full bool) func(tap.Event) error {
	out := bufio.NewWriter(c.stdout)
	report := tap.Text(out, full)
	if c.format == "json" {
		report = tap.JSON(out, full)
	}
	return func(e tap.Event) error {
		err := report(e)
		if err == nil {
			err = out.Flush() // a line must not wait for the next one
		}
		if err != nil {
			return fmt.Errorf("printing the output: %w", plainError(err))
		}
		return nil
	}
}

// A signalError is the cause of a context that a signal has ended.
type signalError struct{ signal unix.Signal }

func (e *signalError) Error() string { return unix.SignalName(e.signal) }

// untilSignal returns a context that ends with the first of some signals; the second ends the
// process. A reader of the output that goes does not: what was made is removed first.
func untilSignal(ends ...os.Signal) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, ends...)
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, unix.SIGPIPE)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(&signalError{s.(unix.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(broken)
		cancel(nil)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/cosim-go/cosim/cmd/cosim/internal/response"
	"github.com/cosim-go/cosim/cmd/cosim/internal/socket"
	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/gateway"
)

// callFlags are the flags of relay call.
type callFlags struct {
	connect   string
	args      []callArg
	output    string
	cartridge string
	preferred string
	timeout   time.Duration
}

func (c *cli) callCommand() *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "call --connect PATH CAP",
		Short: "Call a cap of a switch, with files for its arguments",
		Long: `Ask the switch that listens on the Unix socket PATH for a cap, send the arguments, and write
the response as it comes, to standard output or where --output says.

    cosim relay call --connect switch.sock 'cap:extract' --arg media:ext=pdf=paper.pdf

An argument is a media URN and a file, - for standard input, or with --text a text; they are sent
in the order in which they stand here. The URN ends at the last = before which there is one; a
semicolon at its end makes sure: --text 'media:x;=a=b'.

A response of several streams needs --output DIR/, where each gets a file of its own, such as 1
or 2.pdf. Items of a sequence that are texts are written as lines, those that are bytes as they
are, and others as lines in the notation of CBOR. With --format json standard output has a line
for each event instead, with the data unless --output takes it.

Messages of the handler go to standard error, and on a terminal so does how far it is. SIGINT,
SIGTERM and SIGHUP cancel the request and wait for its end; a second one does not wait.
Exit codes: 0 the response is there as a whole, 2 wrong usage, 3 refused before anything was
asked, 4 the request failed, 130, 143 and 129 cancelled by that signal.`,
		Args:    exactlyOne("a cap"),
		PreRunE: func(_ *cobra.Command, args []string) error { return errors.Join(f.check(args[0]), c.checkFormat()) },
		RunE:    func(_ *cobra.Command, args []string) error { return c.call(args[0], &f) },
	}
	c.formatFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.connect, "connect", "", "socket of the switch")
	flags.Var(argFlag{&f, false}, "arg", "an argument from a file; may be repeated")
	flags.Var(argFlag{&f, true}, "text", "an argument that is a text; may be repeated")
	flags.StringVar(&f.output, "output", "", "file for the response, or directory, which ends with /, for its streams")
	flags.StringVar(&f.cartridge, "cartridge", "", "id of the cartridge that has to serve it, instead of the best one")
	flags.StringVar(&f.preferred, "preferred", "", "cap of the provider that comes before all others")
	flags.DurationVar(&f.timeout, "timeout", 0, "how long all of it may take; 0 is for ever")
	return cmd
}

// check refuses flags that cannot be meant.
func (f *callFlags) check(urn string) error {
	if f.connect == "" {
		return usage("cosim relay call needs --connect PATH; see cosim relay call --help")
	}
	if _, err := caps.Parse(urn); err != nil {
		return &exitError{code: exitUsage, msg: fmt.Sprintf("%q is no cap: %v", urn, err), hints: []string{"a cap is a URN, such as cap:hash"}}
	}
	if f.preferred != "" {
		if _, err := caps.Parse(f.preferred); err != nil {
			return usage("--preferred %q is no cap: %v", f.preferred, err)
		}
	}
	if f.timeout < 0 {
		return usage("--timeout %v: it is above 0s", f.timeout)
	}
	stdin := 0
	for _, a := range f.args {
		if a.source == stdinSource {
			stdin++
		}
	}
	if stdin > 1 {
		return usage("%d arguments are from standard input, which can be read once", stdin)
	}
	return nil
}

func (c *cli) call(urn string, f *callFlags) error {
	show := newCallDisplay(c.stderr, c.stdout)
	defer show.close()
	args, read, closeArgs, err := f.open(c.stdin, show)
	if err != nil {
		return err
	}
	defer closeArgs()
	sink, err := c.callSink(f, read)
	if err != nil {
		return err
	}
	signals, release := untilSignal(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer release()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if f.timeout > 0 {
		late := time.AfterFunc(f.timeout, func() { cancel(&lateError{f.timeout}) })
		defer late.Stop()
	}
	defer context.AfterFunc(signals, func() {
		cancel(call.ErrCancelledByUser) // before the line, which may have to wait for its reader
		show.say("cancelling; once more does not wait for the end")
	})()
	client, err := dialSwitch(ctx, f.connect)
	if err == nil {
		defer client.Close()
		r := call.Request{Cap: urn, Cartridge: f.cartridge, Preferred: f.preferred}
		err = inTime(ctx, func() error {
			defer sink.streams.Close()
			return carryOut(ctx, client, r, args, sink, show)
		})
	}
	var stuck *stuckError
	if errors.As(err, &stuck) {
		return &exitError{code: exitFailed, msg: fmt.Sprintf("call to %q failed: %v", urn, err)}
	}
	show.close()
	var late *lateError
	if err != nil && errors.As(context.Cause(ctx), &late) {
		err = late
	}
	return c.ended(urn, f, err, signals, client, sink)
}

// A lateError is the cause of a context whose time is over.
type lateError struct{ limit time.Duration }

func (e *lateError) Error() string { return fmt.Sprintf("no end within %v", e.limit) }

// Unwrap returns what the handler is told.
func (e *lateError) Unwrap() error {
	return &call.Cancelled{Code: call.CodeAborted, Attribution: frame.AttributionEnvironment, Message: e.Error()}
}

// A stuckError says that a call was left that had not ended a while after its time was over.
type stuckError struct{ *lateError }

func (e *stuckError) Error() string {
	return e.lateError.Error() + "; the output takes nothing, or the switch does not answer"
}

// inTime carries out a call, and does not wait for its end when its time has been over for a while. What it writes may be
// stuck for good then, so the process has to end.
func inTime(ctx context.Context, carryOut func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- carryOut() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	var late *lateError
	if !errors.As(context.Cause(ctx), &late) {
		return <-ended // after a signal the user says when to wait no longer
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(outputPatience):
		return &stuckError{late}
	}
}

// carryOut makes a request, and passes on all that comes of it.
func carryOut(ctx context.Context, o call.Opener, r call.Request, args []call.Arg, sink *callSink, show *callDisplay) error {
	running, err := call.Start(ctx, o, r, args...)
	if err != nil {
		return err
	}
	defer running.Close()
	for {
		// When ctx ends, the request is cancelled; this goes on to the end that comes of it.
		e, err := running.Next(context.Background())
		if err == io.EOF {
			return sink.success(running.End())
		}
		if err != nil {
			return err
		}
		show.event(&e)
		if err := sink.event(&e, show); err != nil {
			return err
		}
	}
}

// ended says how a call ended, and returns the error that the command ends with.
func (c *cli) ended(urn string, f *callFlags, err error, signals context.Context, client *gateway.Client, sink *callSink) error {
	if err == nil {
		return nil
	}
	var refusal *exitError
	if errors.As(err, &refusal) {
		return err
	}
	var failed *call.Error
	errors.As(err, &failed)
	if sink.events != nil {
		sink.events.Failure(lastEvent(err, failed))
	}
	var signaled *signalError
	if errors.As(context.Cause(signals), &signaled) {
		return &exitError{code: 128 + int(signaled.signal), msg: fmt.Sprintf("call to %q was cancelled by %s", urn, signaled)}
	}
	out := &exitError{code: exitFailed, msg: fmt.Sprintf("call to %q failed: %s", urn, cleanLines(err.Error()))}
	var several *response.SeveralError
	var place *response.PlaceError
	switch {
	case errors.As(err, &several):
		out.hints = append(out.hints, "--output DIR/ takes each stream to a file of its own")
	case errors.As(err, &place):
		var file *fs.PathError
		if errors.As(err, &file) && file.Path != os.Stdout.Name() {
			out.msg = fmt.Sprintf("writing the output %q: %v", file.Path, file.Err)
		} else {
			out.msg = fmt.Sprintf("printing the output: %v", plainError(place.Err))
		}
	case failed != nil:
		for _, hint := range callHints(client, urn, f, failed) {
			out.hints = append(out.hints, clean(hint))
		}
	}
	return out
}

// lastEvent is what the last line of JSON says of a call that failed: what its handler or the switch did, or else why
// it was given up here.
func lastEvent(err error, failed *call.Error) *call.Error {
	var given *call.Cancelled
	switch {
	case failed != nil:
		return failed
	case errors.As(err, &given):
		return &call.Error{Code: given.Code, Attribution: given.Attribution, Message: err.Error()}
	}
	return &call.Error{Code: call.CodeAborted, Attribution: frame.AttributionEnvironment, Message: err.Error()}
}

// cleanLines is clean for a text of several lines.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = clean(line)
	}
	return strings.Join(lines, "\n")
}

// dialPatience is how long a switch may take to answer.
const dialPatience = 10 * time.Second

// dialSwitch connects to a switch. Its errors are refusals, or the cause of ctx.
func dialSwitch(ctx context.Context, path string) (*gateway.Client, error) {
	if err := socket.Check("connect to", path); err != nil {
		return nil, refusedSocket(err)
	}
	limited, cancel := context.WithTimeoutCause(ctx, dialPatience, errSilent)
	defer cancel()
	client, err := gateway.Dial(limited, path)
	if err == nil {
		return client, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if errors.Is(err, frame.ErrHandshake) || errors.Is(err, errSilent) {
		return nil, refused(fmt.Sprintf("cannot call by %q: %v", path, err), "is it the socket of a switch, and not that of a host of it?")
	}
	return nil, noSwitch(path, err)
}

// noSwitch says why nobody could be connected to, and how to start a switch where that is what helps.
func noSwitch(path string, err error) error {
	reason := fmt.Sprintf("cannot connect to %q: %v", path, socket.Reason(err))
	switch info, failed := os.Stat(path); {
	case failed == nil && info.Mode()&fs.ModeSocket == 0:
		return refused(fmt.Sprintf("cannot connect to %q: it is no socket", path))
	case errors.Is(err, fs.ErrPermission):
		return refused(reason, "the socket of a switch is its owner's alone")
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		if dir, failed := os.Stat(filepath.Dir(path)); failed == nil && dir.IsDir() {
			return refused(reason, "start one with: cosim relay switch --listen "+shellWord(path))
		}
	}
	return refused(reason)
}

var errSilent = errors.New("what listens there does not answer")

// callHints returns what may help after a call that failed.
func callHints(client *gateway.Client, urn string, f *callFlags, failed *call.Error) []string {
	if client == nil || failed.Code != "NO_HANDLER" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialPatience)
	defer cancel()
	s, err := statusOf(ctx, client)
	if err != nil {
		return nil
	}
	if f.cartridge != "" {
		var ids []string
		for _, r := range s.Inventory.Records {
			ids = append(ids, r.Install.ID)
		}
		return suggest(f.cartridge, ids, "cartridges")
	}
	others := slices.DeleteFunc(s.Capabilities, func(c string) bool { return c == caps.Identity }) // which every cartridge has
	return suggest(urn, others, "caps")
}

// shownNames is how many names a hint lists.
const shownNames = 5

// suggest returns a hint with the name that was meant, or some that there are.
func suggest(name string, names []string, what string) []string {
	if near := nearest(name, names); near != "" {
		return []string{fmt.Sprintf("did you mean %q?", near)}
	}
	switch {
	case len(names) == 0:
		return []string{"no host offers any " + what + " now; see cosim relay status"}
	case len(names) > shownNames:
		return []string{fmt.Sprintf("%s there are: %s, and %d more; see cosim relay status", what, strings.Join(names[:shownNames], ", "), len(names)-shownNames)}
	}
	return []string{what + " there are: " + strings.Join(names, ", ")}
}

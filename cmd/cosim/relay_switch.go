package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cosim-go/cosim/cmd/cosim/internal/socket"
	"github.com/cosim-go/cosim/relay/gateway"
	"github.com/cosim-go/cosim/relay/route"
	"github.com/cosim-go/cosim/topology/diag"
)

// switchFlags are the flags of relay switch.
type switchFlags struct {
	listen     string
	hosts      []named
	states     []named
	policy     string
	policyMeta []named
	allowEmpty bool
	expect     int
}

func (c *cli) switchCommand() *cobra.Command {
	var f switchFlags
	cmd := &cobra.Command{
		Use:   "switch --listen PATH",
		Short: "Join hosts of cartridges, and let others call their caps",
		Long: `Listen on the Unix socket PATH for hosts and for those who call, tell them apart by the first
frame they send, and carry each request to the host whose cartridges serve it best. The socket is
for its owner alone (mode 0600); one that nobody listens on any more is replaced.

Hosts on PATH are named in the order in which they come: host-1, host-2 and so on. The protocol
has no names, so a host that comes back gets the name again which another left that had the
same cartridges installed; if there were several, the one of the same process. A host that needs
a name for good has a socket of its own, for it alone: --host gpu-a=/run/cosim/gpu-a.

The file of --policy is what every host and cartridge is told, that of --state what one host
is told of its surroundings; nobody on the way looks into either. Hosts get them when they join,
and when SIGHUP has the files read again and they have changed. Hosts that do not know policies
end their connection when they get one; others want one that they know, such as
--policy-meta network=full.

A line on standard error tells of each event. SIGINT and SIGTERM end the switch in order:
requests that run end with the code ABORTED, and the sockets are removed; a second one ends it
at once. Exit codes: 2 wrong usage, 3 it cannot listen or read its files, 4 it cannot go on,
130 and 143 ended by that signal.`,
		Args:    noArgs,
		PreRunE: func(*cobra.Command, []string) error { return f.check() },
		RunE:    func(*cobra.Command, []string) error { return c.runSwitch(&f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "", "socket for hosts and callers")
	flags.Var(namedFlag{&f.hosts, "NAME=PATH"}, "host", "socket for the host of that name; may be repeated")
	flags.StringVar(&f.policy, "policy", "", "file with the policy for all hosts")
	flags.Var(namedFlag{&f.policyMeta, "NAME=TEXT"}, "policy-meta", "a text in the meta of the policy; may be repeated")
	flags.Var(namedFlag{&f.states, "NAME=FILE"}, "state", "file with the state for the host of that name; may be repeated")
	flags.BoolVar(&f.allowEmpty, "allow-empty", false, "let hosts join that have no cartridges yet")
	flags.IntVar(&f.expect, "expect", 0, "say when that many hosts are there, all of them healthy")
	return cmd
}

// check refuses flags that do not go together.
func (f *switchFlags) check() error {
	if f.listen == "" {
		return usage("cosim relay switch needs --listen PATH; see cosim relay switch --help")
	}
	if f.expect < 0 {
		return usage("--expect %d: it is a number of hosts", f.expect)
	}
	paths := map[string]string{f.listen: "--listen"}
	names := map[string]bool{}
	for _, h := range f.hosts {
		if other, ok := paths[h.value]; ok {
			return usage("--host %s=%s: the socket is that of %s", h.name, h.value, other)
		}
		if isNumbered(h.name) {
			return usage("--host %s=%s: hosts without a name are called so", h.name, h.value)
		}
		if names[h.name] {
			return usage("--host %s=%s: there is another host of that name", h.name, h.value)
		}
		paths[h.value], names[h.name] = "--host "+h.name, true
	}
	told := map[string]bool{}
	for _, s := range f.states {
		switch {
		case told[s.name]:
			return usage("--state %s=%s: there is another state for that host", s.name, s.value)
		case !names[s.name] && !isNumbered(s.name):
			return &exitError{
				code: exitUsage, msg: fmt.Sprintf("--state %s=%s: there is no --host %s", s.name, s.value, s.name),
				hints: hostHints(s.name, slices.Collect(maps.Keys(names))),
			}
		}
		told[s.name] = true
	}
	return nil
}

func hostHints(name string, names []string) []string {
	if near := diag.Suggest(name, names); near != "" {
		return []string{fmt.Sprintf("did you mean %q?", near)}
	}
	return []string{"hosts without a name are called host-1, host-2 and so on"}
}

// isNumbered reports whether a name is one that hosts without a name get.
func isNumbered(name string) bool {
	n, ok := strings.CutPrefix(name, "host-")
	return ok && n != "" && n[0] != '0' && strings.Trim(n, "0123456789") == ""
}

func (c *cli) runSwitch(f *switchFlags) error {
	files, err := readSwitchFiles(f)
	if err != nil {
		return err
	}
	listeners, err := f.listenAll()
	if err != nil {
		return err
	}
	j := newJournal(c.stderr)
	defer j.close()
	ctx, release := untilSignal(syscall.SIGINT, syscall.SIGTERM)
	defer release()
	s, err := route.New(ctx, nil, &route.Options{Policy: files.policyNow(), AllowEmptyHosts: f.allowEmpty, Logger: j.logger()})
	if err != nil {
		closeAll(listeners)
		return &exitError{code: exitFailed, msg: err.Error()}
	}
	defer s.Close()
	s.Expect(f.expect)
	board := &switchboard{s: s, j: j, files: files}
	err = board.serve(ctx, listeners, f)
	if err != nil {
		return &exitError{code: exitFailed, msg: err.Error()}
	}
	var signaled *signalError
	errors.As(context.Cause(ctx), &signaled)
	return silent(128 + int(signaled.signal))
}

// listenAll listens on all sockets: that for everybody, then those of the named hosts.
func (f *switchFlags) listenAll() ([]*socket.Listener, error) {
	var all []*socket.Listener
	for _, path := range append([]string{f.listen}, values(f.hosts)...) {
		l, err := socket.TakeOver(path)
		if err != nil {
			closeAll(all)
			return nil, refusedSocket(err)
		}
		all = append(all, l)
	}
	return all, nil
}

func closeAll(listeners []*socket.Listener) {
	for _, l := range listeners {
		l.Close()
	}
}

// A switchboard is a switch that is served.
type switchboard struct {
	s     *route.Switch
	j     *journal
	files *switchFiles
}

// serve serves all sockets until ctx ends or one of them fails.
func (b *switchboard) serve(ctx context.Context, listeners []*socket.Listener, f *switchFlags) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	var all sync.WaitGroup
	failed := make(chan error, len(listeners))
	for i, l := range listeners {
		o := &gateway.Options{Joined: b.joined, Logger: b.j.logger()}
		if i > 0 {
			o.Host = f.hosts[i-1].name
		}
		all.Go(func() {
			if err := gateway.Serve(ctx, l, b.s, o); err != nil {
				failed <- err
				cancel(err)
			}
		})
		b.j.say("listening on %q%s", l.Path, forWhom(o.Host))
	}
	all.Go(func() { b.rereadOnHangup(ctx, hangups) })
	if f.expect > 0 {
		all.Go(func() {
			if b.s.WaitReady(ctx) == nil {
				b.j.say("ready: %s", plural(len(b.s.Health()), "host"))
			}
		})
	}
	<-ctx.Done()
	var signaled *signalError
	if errors.As(context.Cause(ctx), &signaled) {
		b.j.say("%s: ending", signaled)
	}
	all.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func forWhom(host string) string {
	if host == "" {
		return ""
	}
	return ", for host \"" + host + "\""
}

// joined tells of a host that joined, and the host of its surroundings.
func (b *switchboard) joined(h gateway.Joined) {
	word := "joined"
	if h.Again {
		word = "joined again"
	}
	for _, m := range b.s.Health() {
		switch {
		case m.ID != h.Host || !m.Attached:
		case m.Healthy:
			b.j.say("host %q: %s, pid %d: %s", h.Host, word, h.PID, plural(m.Caps, "cap"))
		case m.LastError != nil:
			b.j.say("host %q: %s, pid %d, but nothing goes there: %s", h.Host, word, h.PID, *m.LastError)
		}
	}
	b.welcome(h.Host)
}

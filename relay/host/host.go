package host

import (
	"context"
	"errors"
	"io"

	"github.com/cosim-go/cosim/relay/bridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/stats"
)

// Errors of a host.
var (
	// ErrClosed is the error of a host after Close.
	ErrClosed = errors.New("host: closed")

	// ErrBusy is the error of a Run while another one goes on.
	ErrBusy = errors.New("host: it serves a relay already")

	// ErrNothing is the error of a Run of a host without a cap to offer, unless options allow that.
	ErrNothing = errors.New("host: no cartridge is registered")
)

var errNotYet = errors.New("host: not there yet")

// A Host owns cartridges and serves them to one switch at a time. It is safe for concurrent use.
type Host struct {
	options Options
}

// New returns a host without cartridges.
func New(o *Options) *Host { return &Host{options: o.fill()} }

// A Registration is a cartridge that a host may start.
type Registration struct {
	Install manifest.Install
	// Groups are what it can do. Its own manifest takes their place when it runs. One of the caps has to accept
	// caps.Identity.
	Groups   []manifest.CapGroup
	Provider Provider
	// Dir makes it a part of the roster; see [Host.SyncRoster].
	Dir bool
}

// Register makes a cartridge known, after those that are. Its caps can be asked for from now on, and the first request starts
// it. Of equally good cartridges the first one that was registered serves a request.
func (h *Host) Register(r Registration) error { return errNotYet }

// Attach takes in a cartridge that runs already, at the other end of conn. It returns when the cartridge has been
// greeted and checked, and fails when that does. ctx is for this alone. The host owns conn, also when it fails. A cartridge that was attached
// and ends is forgotten.
func (h *Host) Attach(ctx context.Context, conn io.ReadWriteCloser) error { return errNotYet }

// SyncRoster replaces the cartridges that were registered with Dir, told by registry, channel, id and version, and
// the records that others know of. New ones are added. One that is missing cannot be asked for any more, and is
// stopped when its requests have ended, after the DrainLimit at the latest; when it comes back before that it goes on
// as it was. All others stay as they are, with their processes. One that had failed stays so, unless its hash is another.
//
// SyncRoster waits for nothing. When it fails nothing has changed.
func (h *Host) SyncRoster(ctx context.Context, regs []Registration, static []manifest.Record) error {
	return errNotYet
}

// Run serves the switch at the other end of socket, by a slave of its own, until the relay ends; then it stops
// all cartridges, unless options say Stay. It owns socket. It returns nil when the switch ended the relay, the cause of ctx when that ended, and
// else what ended it. It can be called again.
func (h *Host) Run(ctx context.Context, socket io.ReadWriteCloser) error { return errNotYet }

// RunBehind is Run for a slave of the caller's, at the other end of local, which it owns. The newest payload of
// state, which may be nil, is what cartridges are told; it is the slave's.
func (h *Host) RunBehind(ctx context.Context, local io.ReadWriteCloser, state *bridge.State) error {
	return errNotYet
}

// Kill kills the process of a cartridge. Its requests end with the code, attribution and message of the reason, the next
// one starts it again. It returns false when no such cartridge runs.
func (h *Host) Kill(i manifest.Install, reason frame.CancelReason) bool { return false }

// KillOutOfMemory is Kill for one who watches memory: requests end with OOM_KILLED, which is nobody's fault but that of the
// resources.
func (h *Host) KillOutOfMemory(i manifest.Install, message string) bool { return false }

// Close stops all cartridges and ends Run. It returns when no process of the host is left. It may be called again.
func (h *Host) Close() error { return nil }

// Inventory returns the records of all cartridges, as they are announced.
func (h *Host) Inventory() []manifest.Record { return nil }

// Caps returns the caps that can be asked for, in canonical form.
func (h *Host) Caps() []string { return nil }

// Stats returns what the host counts.
func (h *Host) Stats() stats.Host { return stats.Host{} }

// Limits returns what the host announces: the smallest limits of the cartridges that run.
func (h *Host) Limits() frame.Limits { return h.options.Limits }

// Policy returns the newest POLICY of the switch, nil before the first. It must not be changed.
func (h *Host) Policy() *frame.Frame { return nil }

// Program returns the provider of a program that s starts; nil is Exec. What the program writes to standard error goes to
// the host's log, and its end into what is said about the death of the cartridge.
func Program(s Starter, c Command) Provider { return nil }

// Exec starts processes of this machine. Each leads a process group of its own, which Kill ends as a whole, and which is
// ended when the process itself has ended. On Linux the kernel kills the process when this one is killed.
var Exec Starter

// A Server is what answers frames on a connection, such as a *cartridge.Cartridge. Serve ends when the connection
// does, or ctx; it owns conn.
type Server interface {
	Serve(ctx context.Context, conn io.ReadWriteCloser) error
}

// Handlers returns the provider of a cartridge that s is, in this process. Each start is a call of Serve, over a
// connection in memory. Killing it ends the context of that call and the connection; a Serve that does not return then is
// left behind.
func Handlers(s Server) Provider { return nil }

// Inspect starts a cartridge once, greets and checks it, and stops it: so its manifest is known before it is registered. No
// options are the defaults.
func Inspect(ctx context.Context, p Provider, o *Options) (*manifest.Cartridge, error) {
	return nil, errNotYet
}

package cartridge

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/stats"
)

// An Error is how a handler fails with a code of its own.
type Error = call.Error

// An Item is a value of a sequence: one CBOR item, with what its first CHUNK says in meta.
type Item = call.Item

// A Handler serves a request. It returns nil for success; streams that it left open are ended then. What ctx ends for is
// told by context.Cause.
type Handler func(ctx context.Context, r *Request) error

// Options are the options of [New]. The zero value has the defaults.
type Options struct {
	Channel     string // "" is manifest.ChannelRelease
	Registry    string // where the cartridge is published; "" without HasRegistry
	HasRegistry bool
	Description string

	// Pools are bounds of how many requests are served at once; see [manifest.PoolDeclarations].
	Pools manifest.PoolDeclarations

	// Limits are what is proposed to the host, whose smaller ones count; a zero field is the default of package frame.
	Limits frame.Limits

	// StopLimit is how long handlers have to end after the end of the connection; 0 is 1 s. A host gives its
	// cartridges 2 s to leave.
	StopLimit time.Duration

	// Logger gets what a cartridge has to say of itself: panics with their stacks, frames that make no sense. Nil
	// discards it; Main logs to standard error then.
	Logger *slog.Logger
}

// A Cartridge is a set of handlers with a manifest. Handlers are added before it serves. It can serve several
// connections at once, each with pools of its own.
type Cartridge struct {
	name, version string
	o             Options
	err           error // the first of Handle
	handlers      []handler

	mu       sync.Mutex
	table    *caps.Index
	sessions map[*session]struct{}
	counters stats.Counters
}

type handler struct {
	cap   manifest.Cap
	serve Handler
}

type session struct{}

// New returns a cartridge without caps but identity. The name is its id for those who ask for one cartridge in particular.
// No options are the defaults.
func New(name, version string, o *Options) *Cartridge { panic("cartridge: not there yet") }

// Handle adds a handler for a cap, with a title for people. An error, such as a text that is no cap URN, stays:
// [Cartridge.Err], Serve and Main report it.
func (c *Cartridge) Handle(urn, title string, h Handler) { panic("cartridge: not there yet") }

// HandleCap is Handle for a cap of which there is more to say.
func (c *Cartridge) HandleCap(described manifest.Cap, h Handler) { panic("cartridge: not there yet") }

// Err returns the first error of what was added, or of the manifest as a whole.
func (c *Cartridge) Err() error { panic("cartridge: not there yet") }

// Manifest returns what the cartridge says of itself to its host.
func (c *Cartridge) Manifest() manifest.Cartridge { panic("cartridge: not there yet") }

// SetAvailable says how many requests can be served now in a pool, in the cartridge's own view; 0 is no bound. It counts for
// all connections. It fails with [admission.ErrUnknownPool].
func (c *Cartridge) SetAvailable(pool string, n uint64) error { panic("cartridge: not there yet") }

// Serve serves a host over a connection, which it owns: it is closed when Serve returns. That is after the end of the input, with
// nil, an error of the connection, a breach of the protocol, or the end of ctx, with its cause. The contexts of handlers
// end then, and Serve waits for them, but not longer than Options.StopLimit.
func (c *Cartridge) Serve(ctx context.Context, conn io.ReadWriteCloser) error {
	panic("cartridge: not there yet")
}

// Main serves the host that started this program, over standard input and output, and then exits with status 0, or 1
// after an error, which it prints. It never returns.
//
// In the meantime os.Stdout is standard error, so that what handlers print does no harm. A program that was started with
// arguments, or by a person at a terminal, prints what it is instead: its manifest for the argument manifest, and else
// a help.
func (c *Cartridge) Main() { panic("cartridge: not there yet") }

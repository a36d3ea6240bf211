package cartridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cosim-go/cosim/relay/admission"
	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// An Error is how a handler fails with a code of its own.
type Error = call.Error

// An Item is a value of a sequence: one CBOR item, with what its first CHUNK says in meta.
type Item = call.Item

// A Handler serves a request. It returns nil for success; streams that it left open are ended then. What ctx ends for
// is told by context.Cause.
type Handler func(ctx context.Context, r *Request) error

// Options are the options of [New]. The zero value has the defaults.
type Options struct {
	Channel     string // "" is manifest.ChannelRelease
	Registry    string // where the cartridge is published; "" without HasRegistry
	HasRegistry bool
	Description string

	// Pools are bounds of how many requests are served at once; see [manifest.PoolDeclarations].
	Pools manifest.PoolDeclarations

	// Limits are what is proposed to the host, whose smaller ones count; a zero field is the default of package
	// frame.
	Limits frame.Limits

	// StopLimit is how long handlers have to end after the end of the connection; 0 is 1 s. A host gives its
	// cartridges 2 s to leave.
	StopLimit time.Duration

	// Logger gets what a cartridge has to say of itself: panics with their stacks, frames that make no sense. Nil
	// discards it; Main logs to standard error then.
	Logger *slog.Logger
}

// defaultStopLimit is how long handlers have to end after the end of the connection, unless options say otherwise.
const defaultStopLimit = time.Second

// A Cartridge is a set of handlers with a manifest. Handlers are added before it serves. It can serve several
// connections at once, each with pools of its own; all other methods are safe for concurrent use then.
type Cartridge struct {
	name, version string
	o             Options
	err           error // the first of Handle
	handlers      []handler

	mu        sync.Mutex
	available map[string]uint64 // by pool
	sessions  map[*session]struct{}
}

type handler struct {
	cap   manifest.Cap
	name  string // canonical text of the cap
	serve Handler
}

// New returns a cartridge without caps but identity. The name is its id for those who ask for one cartridge in
// particular. No options are the defaults.
func New(name, version string, o *Options) *Cartridge {
	c := &Cartridge{name: name, version: version, available: map[string]uint64{}, sessions: map[*session]struct{}{}}
	if o != nil {
		c.o = *o
	}
	c.o.Limits = complete(c.o.Limits)
	if c.o.StopLimit <= 0 {
		c.o.StopLimit = defaultStopLimit
	}
	if c.o.Logger == nil {
		c.o.Logger = slog.New(slog.DiscardHandler)
	}
	identity, err := manifest.NewCap(caps.Identity, "Identity")
	if err != nil {
		panic("cartridge: " + err.Error())
	}
	c.handlers = []handler{{identity, caps.Identity, echo}}
	return c
}

// complete returns limits without a zero field.
func complete(l frame.Limits) frame.Limits {
	d := frame.DefaultLimits()
	for _, f := range []struct{ field, absent *uint64 }{
		{&l.MaxFrame, &d.MaxFrame}, {&l.MaxChunk, &d.MaxChunk},
		{&l.MaxReorderBuffer, &d.MaxReorderBuffer}, {&l.InitialCredit, &d.InitialCredit},
	} {
		if *f.field == 0 {
			*f.field = *f.absent
		}
	}
	return l
}

// Handle adds a handler for a cap, with a title for people. An error, such as a text that is no cap URN, stays:
// [Cartridge.Err], Serve and Main report it.
func (c *Cartridge) Handle(urn, title string, h Handler) {
	described, err := manifest.NewCap(urn, title)
	if err != nil {
		c.fail(fmt.Errorf("cap %q: %w", urn, err))
		return
	}
	c.HandleCap(described, h)
}

// HandleCap is Handle for a cap of which there is more to say. What is said of [caps.Identity] is said of the handler
// that is there, which stays when h is nil.
func (c *Cartridge) HandleCap(described manifest.Cap, h Handler) {
	identity := described.URN != nil && described.URN.String() == caps.Identity
	switch {
	case identity:
		c.handlers[0].cap = described
		if h != nil {
			c.handlers[0].serve = h
		}
		return
	case described.URN == nil || h == nil:
		c.fail(errors.New("a cap without a URN or without a handler"))
		return
	}
	name := described.URN.String()
	if slices.ContainsFunc(c.handlers, func(other handler) bool { return other.name == name }) {
		c.fail(fmt.Errorf("cap %q has a handler already", name))
		return
	}
	c.handlers = append(c.handlers, handler{described, name, h})
}

func (c *Cartridge) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

var errNameless = errors.New("a cartridge without a name or without a version")

// Err returns the first error of what was added, or of the manifest as a whole.
func (c *Cartridge) Err() error {
	switch {
	case c.err != nil:
		return c.err
	case c.name == "" || c.version == "":
		return errNameless
	}
	m := c.Manifest()
	return m.Check()
}

// Manifest returns what the cartridge says of itself to its host.
func (c *Cartridge) Manifest() manifest.Cartridge {
	group := manifest.CapGroup{Name: "default"}
	for _, h := range c.handlers {
		group.Caps = append(group.Caps, h.cap)
	}
	return manifest.Cartridge{
		Name: c.name, Version: c.version, Channel: c.o.Channel, Registry: c.o.Registry, HasRegistry: c.o.HasRegistry,
		Description: c.o.Description, Groups: []manifest.CapGroup{group}, Pools: c.o.Pools,
	}
}

// index returns what finds the handler of a request.
func (c *Cartridge) index() *caps.Index {
	table := make([]*caps.Cap, len(c.handlers))
	for i, h := range c.handlers {
		table[i] = h.cap.URN
	}
	return caps.NewIndex(table)
}

// SetAvailable says how many requests can be served now in a pool, in the cartridge's own view; 0 is no bound. It
// counts for all connections, and hosts learn of it with the next heartbeat. It fails with
// [admission.ErrUnknownPool], and as Err does.
func (c *Cartridge) SetAvailable(pool string, n uint64) error {
	if err := c.Err(); err != nil {
		return err
	}
	m := c.Manifest()
	probe := admission.New(m.InitialPools())
	if err := probe.SetAvailable(pool, n); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.available[pool] = n
	for s := range c.sessions {
		s.pools.SetAvailable(pool, n)
	}
	return nil
}

// join makes a session one that SetAvailable reaches.
func (c *Cartridge) join(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for pool, n := range c.available {
		s.pools.SetAvailable(pool, n)
	}
	c.sessions[s] = struct{}{}
}

func (c *Cartridge) leave(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions, s)
}

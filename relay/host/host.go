package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/internal/outbox"
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

// A Host owns cartridges and serves them to one switch at a time. It is safe for concurrent use.
type Host struct {
	options Options
	counted stats.Counters

	mu         sync.Mutex // over all that follows; nobody waits for anything while holding it
	cartridges []*cartridge
	processes  map[*process]struct{} // all that are not gone
	static     []manifest.Record     // that others know of
	table      []*caps.Cap           // of the cartridges that can be asked
	owners     []*cartridge          // of the caps in table
	index      *caps.Index           // nil when table is stale
	tables
	relay    *relay // nil while there is none
	joined   bool   // a Run goes on
	policy   *policy
	state    []byte // newest RELAY_STATE payload; nil before the first
	states   uint64 // how many there were
	stopping bool   // no cartridge is started
	closed   bool
	runs     sync.WaitGroup

	ticks      *time.Timer // every Republish while something runs
	heartbeats *time.Timer
	stale      bool // an announcement is due and could not be sent

	fed     []*outbox.Outbox // what was queued to and not flushed
	events  []Event          // for the observer
	telling bool             // somebody is at that
}

// New returns a host without cartridges. No options are the defaults.
func New(o *Options) *Host {
	return &Host{options: o.fill(), processes: map[*process]struct{}{}, tables: newTables()}
}

// A cartridge is one that a host knows.
type cartridge struct {
	install  manifest.Install
	groups   []manifest.CapGroup
	provider Provider // nil for one that was attached
	dir      bool     // a part of the roster
	removed  bool     // it cannot be asked for, and is not announced
	draining *time.Timer
	failure  *manifest.AttachmentError // of a start, for good

	phase      phase
	generation uint64   // of process, counted from 1
	process    *process // nil when idle
	waiting    backlog  // frames for a process that does not run yet
	desired    []byte   // what the operator wants of its pools; nil for nothing

	restarts      uint64
	lastHeartbeat time.Time
}

// A phase is how far a cartridge is.
type phase uint8

const (
	idle     phase = iota // nothing runs
	starting              // it is started, greeted and checked
	running
	dying // its end is certain; who asks for it now waits for the next process
)

func (c *cartridge) String() string {
	if c.install.ID == "" {
		return "the attached cartridge"
	}
	return fmt.Sprintf("cartridge %q %s", c.install.ID, c.install.Version)
}

// routable reports whether it can be asked for.
func (c *cartridge) routable() bool { return !c.removed && c.failure == nil }

// unlock unlocks the host after something was done, sends what this has queued and tells what has happened.
func (h *Host) unlock() {
	fed := h.fed
	h.fed = nil
	h.mu.Unlock()
	for _, o := range fed {
		o.Flush()
	}
	h.tell()
}

// flush sends what was queued. It is for readers, and reuses fed between calls.
func (h *Host) flush(fed []*outbox.Outbox) []*outbox.Outbox {
	h.mu.Lock()
	fed, h.fed = h.fed, fed[:0]
	h.mu.Unlock()
	for _, o := range fed {
		o.Flush()
	}
	clear(fed)
	return fed
}

// feed takes note that something was queued.
func (h *Host) feed(o *outbox.Outbox) {
	if !slices.Contains(h.fed, o) {
		h.fed = append(h.fed, o)
	}
}

// happened logs an event and keeps it for the observer.
func (h *Host) happened(c *cartridge, kind EventKind, pid int, message string) {
	level := slog.LevelInfo
	if kind != Started && kind != Stopped {
		level = slog.LevelWarn
	}
	h.options.Logger.Log(context.Background(), level, string(kind), "cartridge", c.install.ID, "version", c.install.Version, "pid", pid, "message", message)
	if h.options.Observer != nil {
		h.events = append(h.events, Event{Kind: kind, Install: c.install, PID: pid, Message: message})
	}
}

// tell tells the observer what has happened, unless somebody is at it.
func (h *Host) tell() {
	if h.options.Observer == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.events) > 0 && !h.telling {
		events := h.events
		h.events, h.telling = nil, true
		h.mu.Unlock()
		for _, e := range events {
			h.options.Observer(e)
		}
		h.mu.Lock()
		h.telling = false
	}
}

package route

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/inbox"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/stats"
)

// Options are the options of [New]. The zero value has the defaults.
type Options struct {
	// Policy goes to every master as the first frame after it announced itself; see [Switch.SetPolicy].
	// nil is none: nothing is sent.
	Policy *Policy

	// AllowEmptyHosts lets a host join that offers no caps yet. It is verified when it does. Without it
	// such a host is refused: every host has to offer [caps.Identity].
	AllowEmptyHosts bool

	// Logger gets what is refused, dropped and lost, with the key master. nil discards.
	Logger *slog.Logger

	// MaxQueued is how many bytes wait for a master that reads slowly before those who send to it have
	// to wait, and, four times as many, for an engine that does not read what it asked for, before its
	// request is ended. 0 is 64 MiB.
	MaxQueued int

	// Grace is how long those who wait for admission to a cartridge go on waiting when it has vanished,
	// from the start of the outage. 0 is 60 s.
	Grace time.Duration

	// IdentityLimit is how long a master that joins may take, to announce itself and again to answer the
	// identity check. 0 is 30 s: the host may have to start a cartridge for it.
	IdentityLimit time.Duration

	// RuntimeIdentityLimit is how long the identity check of a master may take whose host had no caps
	// before. 0 is 10 s.
	RuntimeIdentityLimit time.Duration

	// OnNotify, when not nil, is called with what a host offers from now on, at every RELAY_NOTIFY that
	// was taken in: the one that it joined with too. m must not be changed.
	OnNotify func(master string, m *manifest.Inventory)

	// OnTerminated, when not nil, is called for every request that has ended.
	OnTerminated func(stats.Terminated)
}

// The defaults of Options, from the protocol; what may be queued is ours.
const (
	defaultMaxQueued            = 64 << 20
	defaultGrace                = 60 * time.Second
	defaultIdentityLimit        = 30 * time.Second
	defaultRuntimeIdentityLimit = 10 * time.Second
)

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	if d.MaxQueued <= 0 {
		d.MaxQueued = defaultMaxQueued
	}
	if d.Grace <= 0 {
		d.Grace = defaultGrace
	}
	if d.IdentityLimit <= 0 {
		d.IdentityLimit = defaultIdentityLimit
	}
	if d.RuntimeIdentityLimit <= 0 {
		d.RuntimeIdentityLimit = defaultRuntimeIdentityLimit
	}
	return d
}

// A Socket is one of the sockets that [New] makes masters of.
type Socket struct {
	ID   string             // of the master, such as the name of its host; not empty, and no other's
	Conn io.ReadWriteCloser // closing it has to end a waiting Read and Write; it may be closed twice
}

// A Switch joins many masters and carries requests between them and the engine, which is whoever calls its
// methods. It is safe for concurrent use.
type Switch struct {
	options  Options
	log      *slog.Logger
	counters stats.Counters
	engine   *inbox.Inbox           // responses to requests without a channel
	reading  chan struct{}          // holds a token while Read reads from engine
	routes   atomic.Pointer[routes] // stored with mu held
	running  sync.WaitGroup         // readers and checks

	mu       sync.Mutex
	closed   bool
	closing  map[*context.CancelCauseFunc]struct{} // who waits, and has to end with the switch
	masters  []*master
	joins    map[string]*join
	links    map[*link]struct{} // those that have announced themselves, and live
	requests map[frame.ID]*request
	lastXID  uint64
	ended    *stats.Ended
	history  stats.History
	total    uint64 // requests ever registered
	policy   *Policy
	expected int
	changed  chan struct{} // closed and replaced when a master's health or what is offered changes
}

// New makes a switch of some sockets, which may be none. It takes them over, also when it fails: [Switch.Close]
// closes them.
//
// New returns when every host has announced itself and passed its identity check, one after the other, and no
// sooner is a request carried. Any failure ends them all, and the error names the socket's place and id. ctx is for
// the start alone. No options are the defaults.
func New(ctx context.Context, sockets []Socket, o *Options) (*Switch, error) {
	options := o.withDefaults()
	s := &Switch{
		options:  options,
		log:      options.Logger,
		engine:   inbox.New(4 * options.MaxQueued),
		reading:  make(chan struct{}, 1),
		closing:  map[*context.CancelCauseFunc]struct{}{},
		joins:    map[string]*join{},
		links:    map[*link]struct{}{},
		requests: map[frame.ID]*request{},
		ended:    stats.NewEnded(nil),
		policy:   options.Policy.clone(),
		changed:  make(chan struct{}),
	}
	s.routes.Store(newRoutes(nil))
	if err := s.start(ctx, sockets); err != nil {
		for _, socket := range sockets {
			socket.Conn.Close()
		}
		s.Close()
		return nil, err
	}
	return s, nil
}

// start joins the sockets in two phases: all are verified before one of them is served.
func (s *Switch) start(ctx context.Context, sockets []Socket) error {
	ids := map[string]bool{}
	for i, socket := range sockets {
		if ids[socket.ID] {
			return errorf(ErrProtocol, "master %d: its id %q is another's too", i, socket.ID)
		}
		if socket.ID == "" {
			return fmt.Errorf("master %d: %w", i, errNoID)
		}
		ids[socket.ID] = true
	}
	links := make([]*link, 0, len(sockets))
	for i, socket := range sockets {
		l, err := s.connect(ctx, socket.ID, socket.Conn)
		if err == nil {
			links = append(links, l)
			err = s.verify(ctx, l)
		}
		if err != nil {
			return fmt.Errorf("master %d (%q): %w", i, socket.ID, err)
		}
	}
	t := s.turn()
	for _, l := range links {
		s.install(t, l, nil)
	}
	s.end(t)
	return nil
}

// Close ends the switch: requests that run end for their callers with the code ABORTED, what waits fails with
// ErrClosed, every socket is closed, and every goroutine of the switch has ended when Close returns. It may be called
// again.
func (s *Switch) Close() error {
	t := s.turn()
	if !s.closed {
		s.shut(t)
	}
	s.end(t)
	s.running.Wait()
	return nil
}

// closedReason is why requests end that run when the switch is closed.
var closedReason = frame.CancelReason{
	Code: []byte(call.CodeAborted), Attribution: frame.AttributionEnvironment, Message: []byte("the switch was closed"),
}

func (s *Switch) shut(t *turn) {
	s.closed = true
	for cancel := range s.closing {
		(*cancel)(errClosed)
	}
	for l := range s.links {
		s.retire(t, l, errClosed)
	}
	answer := call.CancelledFrom(closedReason).Terminal()
	for _, r := range s.requests {
		s.terminate(t, r, stats.KindCancelled, &closedReason)
		s.fail(t, r, answer)
	}
	for _, m := range s.masters {
		m.link, m.healthy, m.lastError, m.check = nil, false, errClosed, nil
	}
	s.engine.Close(errClosed)
	s.rebuild()
}

// within returns a context that ends with ctx and with the switch. The function that comes with it is to be
// called when the wait is over.
func (s *Switch) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		cancel(errClosed)
		return ctx, func() {}
	}
	s.closing[&cancel] = struct{}{}
	return ctx, func() {
		s.mu.Lock()
		delete(s.closing, &cancel)
		s.mu.Unlock()
		cancel(nil)
	}
}

// nextNumber returns the next of the numbers that the switch gives out, as routing ids and as ids of requests.
func (s *Switch) nextNumber() frame.ID {
	s.lastXID++
	return frame.Number(s.lastXID)
}

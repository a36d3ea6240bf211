package cartridge

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/cosim-go/cosim/relay/admission"
	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/stats"
)

// rememberedEnds is how many ended flows a cartridge's writer remembers, to suppress what comes after.
const rememberedEnds = 1024

const (
	// maxQueued is how many bytes wait for the host before handlers wait: what an output may send on its first credit,
	// twice.
	maxQueued = 16 << 20

	// stall is how long the host may take nothing. It is the host that watches the cartridge, not the other way round.
	stall = 24 * time.Hour
)

// errHostGone is why handlers end when the host has closed the connection.
var errHostGone = &call.Cancelled{
	Code: call.CodeAborted, Attribution: frame.AttributionEnvironment, Message: "the connection to the host has ended",
}

// A session is one connection of a cartridge.
type session struct {
	cartridge *Cartridge
	log       *slog.Logger
	index     *caps.Index
	pools     *admission.Controller
	out       *outbox.Outbox
	limits    frame.Limits // negotiated; set before the first request
	counters  stats.Counters
	state     watched[[]byte]
	policy    watched[*Policy]

	life context.Context
	end  context.CancelCauseFunc

	mu       sync.Mutex
	requests map[flow.Key]*Request
	peers    map[frame.ID]*peer
	ended    *stats.Ended
	ends     uint64 // terminals that were sent so far, of requests and of the bodies of peer calls
	running  int    // handlers
	idle     chan struct{}
}

// Serve serves a host over a connection, which it owns: it is closed when Serve returns. That is after the end of the
// input, with nil, an error of the connection, a breach of the protocol, or the end of ctx, with its cause. The
// contexts of handlers end then, and Serve waits for them, but not longer than Options.StopLimit.
//
// Closing the connection has to end a Read that waits.
func (c *Cartridge) Serve(ctx context.Context, conn io.ReadWriteCloser) error {
	if err := c.Err(); err != nil {
		conn.Close()
		return err
	}
	s := c.newSession(ctx, conn)
	defer c.leave(s)
	read := make(chan error, 1)
	go func() { read <- s.read(conn) }()
	var err error
	select {
	case err = <-read:
		s.stop()
		return err
	case <-s.life.Done():
	}
	err = context.Cause(s.life)
	s.stop()
	if end := <-read; end == nil && ctx.Err() == nil {
		return nil // the host has gone, which a writer may notice first
	}
	return err
}

func (c *Cartridge) newSession(ctx context.Context, conn io.WriteCloser) *session {
	m := c.Manifest()
	s := &session{
		cartridge: c, log: c.o.Logger, index: c.index(), pools: admission.New(m.InitialPools()),
		requests: map[flow.Key]*Request{}, peers: map[frame.ID]*peer{}, ended: stats.NewEnded(nil),
	}
	s.life, s.end = context.WithCancelCause(ctx)
	s.out = outbox.New(conn, &outbox.Options{
		Number: true, RememberEnded: rememberedEnds, Stragglers: s.counters.Straggler,
		MaxQueued: maxQueued, Stall: stall,
		Failed: func(err error) { s.end(err) },
	})
	c.join(s)
	return s
}

// stop ends the handlers, gives them and what they wrote some time, and closes the connection.
func (s *session) stop() {
	s.end(errHostGone)
	s.pools.Close()
	s.abandon()
	limit := s.cartridge.o.StopLimit
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	select {
	case <-s.allDone():
	case <-ctx.Done():
		s.log.Warn("handlers go on after the end of the connection", "limit", limit)
	}
	if errors.Is(s.out.Finish(ctx), context.DeadlineExceeded) {
		s.log.Warn("the host takes no more frames", "limit", limit)
	}
}

// abandon ends all that waits for the host.
func (s *session) abandon() {
	s.mu.Lock()
	var requests []*Request
	for _, r := range s.requests {
		requests = append(requests, r)
	}
	peers := s.peers
	s.peers = nil
	s.mu.Unlock()
	for _, p := range peers {
		p.lose()
	}
	for _, r := range requests {
		r.cancel(errHostGone)
	}
}

// spawn runs a handler; allDone waits for it.
func (s *session) spawn(f func()) {
	s.mu.Lock()
	s.running++
	s.mu.Unlock()
	go func() {
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.running--; s.running == 0 && s.idle != nil {
				close(s.idle)
				s.idle = nil
			}
		}()
		f()
	}()
}

// allDone returns a channel that is closed when no handler runs.
func (s *session) allDone() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	idle := make(chan struct{})
	if s.running == 0 {
		close(idle)
		return idle
	}
	s.idle = idle
	return idle
}

// A watched value is one that others wait for a newer one of. The zero value has none.
type watched[T any] struct {
	mu      sync.Mutex
	value   T
	changed chan struct{}
}

func (w *watched[T]) set(value T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.value = value
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}

func (w *watched[T]) get() (T, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	return w.value, w.changed
}

package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/frame"
)

// Options are the options of [Serve]. The zero value has the defaults.
type Options struct {
	// Host makes every connection that of the host of this id, one at a time; callers are refused then. Without it
	// callers are served, and hosts are told apart by themselves: the first is host-1. One that comes back, when
	// its connection was lost, gets its id again, which it is known by: what it has installed, and if there are
	// several of the same, its process ID.
	Host string

	MaxHosts    int // ids that are given to hosts; 0 is 256
	MaxCallers  int // that are connected at once, and as many that have not said yet what they are; 0 is 256
	MaxRequests int // that a caller has running at once; 0 is 1024

	// MaxQueued is how many bytes of a caller's payloads may wait for handlers, and of payloads for
	// the caller, before the request that one more belongs to is ended. 0 is 256 MiB.
	MaxQueued int

	// HelloLimit is how long a connection may take to say what it is. 0 is 10 s.
	HelloLimit time.Duration

	// Joined, when not nil, is called for every host that joined, healthy or not, in a goroutine of its own. The
	// host is served meanwhile.
	Joined func(Joined)

	// Logger gets what hosts and callers do, with the keys master, caller and pid. nil discards.
	Logger *slog.Logger
}

// Joined tells of a host that joined.
type Joined struct {
	Host  string
	PID   int  // of the process at the other end; 0 where the system does not tell
	Again bool // it had joined before
}

const (
	defaultMaxHosts    = 256
	defaultMaxCallers  = 256
	defaultMaxRequests = 1024
	defaultMaxQueued   = 256 << 20
	defaultHelloLimit  = 10 * time.Second
)

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	for _, n := range []struct {
		value   *int
		instead int
	}{{&d.MaxHosts, defaultMaxHosts}, {&d.MaxCallers, defaultMaxCallers}, {&d.MaxRequests, defaultMaxRequests}, {&d.MaxQueued, defaultMaxQueued}} {
		if *n.value <= 0 {
			*n.value = n.instead
		}
	}
	if d.HelloLimit <= 0 {
		d.HelloLimit = defaultHelloLimit
	}
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	return d
}

// An engine is what a gateway needs of a switch.
type engine interface {
	call.Opener
	AddMaster(ctx context.Context, id string, conn io.ReadWriteCloser) (index int, err error)
	AcceptsAttach(id string) bool
	Limits() frame.Limits
	status() Status
}

// A server serves one listener.
type server struct {
	options Options
	log     *slog.Logger
	engine  engine
	hosts   hosts
	new     chan struct{} // one token for each connection that has not said what it is
	callers chan struct{} // one token for each caller
	running sync.WaitGroup
}

func serve(ctx context.Context, l net.Listener, e engine, o *Options) error {
	s := &server{options: o.withDefaults(), engine: e}
	s.log = s.options.Logger
	s.hosts = hosts{engine: e, fixed: s.options.Host, max: s.options.MaxHosts}
	s.new = make(chan struct{}, s.options.MaxCallers)
	s.callers = make(chan struct{}, s.options.MaxCallers)
	serving, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	shut := func() {
		cancel(errShutdown)
		l.Close()
	}
	defer context.AfterFunc(ctx, shut)()
	err := s.accept(serving, l)
	shut()
	s.running.Wait()
	return err
}

// acceptPause is how long the next connection waits when there is no descriptor for it.
const acceptPause = 100 * time.Millisecond

func (s *server) accept(ctx context.Context, l net.Listener) error {
	short := false // of descriptors, and that was said
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return nil
		case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
			if !short {
				s.log.Error("connections have to wait", "error", err)
			}
			short = true
			pause(ctx, acceptPause)
			continue
		case err != nil:
			return err
		}
		short = false
		select {
		case s.new <- struct{}{}:
			s.running.Go(func() { s.take(ctx, conn) })
		default:
			s.log.Warn("a connection was refused", "error", errTooMany)
			conn.Close()
		}
	}
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

var errTooMany = errors.New("there are too many")

// take serves a connection to its end, or until it is a master's.
func (s *server) take(ctx context.Context, conn net.Conn) {
	pid := peerProcess(conn)
	g, err := greet(ctx, conn, s.options.HelloLimit)
	<-s.new
	switch {
	case err != nil:
	case g.first.Type == frame.TypeRelayNotify:
		s.host(ctx, g, pid)
		return
	case s.options.Host != "":
		err = frame.Errorf(frame.ErrProtocol, "a %s frame comes first: this socket is for hosts, which begin with relay_notify", g.first.Type)
	default:
		err = s.call(ctx, g, pid)
	}
	conn.Close()
	if err != io.EOF && !errors.Is(err, errShutdown) {
		s.log.Warn("a connection was ended", "pid", pid, "error", err)
	}
}

// status returns how the switch is, as JSON.
func (s *server) status() ([]byte, error) {
	status := s.engine.status()
	status.Version, status.Callers = 1, len(s.callers)
	return json.Marshal(status)
}

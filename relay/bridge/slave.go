package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync"

	"github.com/cosim-go/cosim/relay/frame"
	"golang.org/x/sync/errgroup"
)

// Errors of a slave that is not running.
var (
	ErrNotStarted = errors.New("the slave has not announced itself yet")
	ErrEnded      = errors.New("the slave has ended")
)

// SlaveOptions are the options of [NewSlave]. The zero value has the defaults.
type SlaveOptions struct {
	// MaxFrame is the longest body that is accepted from either side, in bytes; 0 is
	// frame.DefaultMaxFrame.
	MaxFrame int

	// State is where RELAY_STATE payloads go, for a host that keeps one over several slaves.
	// nil makes a new one.
	State *State

	// OnState, when not nil, is called with every RELAY_STATE payload, in order, by the
	// goroutine that reads the socket: nothing comes from the socket before it returns. The
	// payload is its to keep, not to change.
	OnState func(payload []byte)

	// Logger gets what is dropped, at level debug, with the key slave. nil discards.
	Logger *slog.Logger

	// Name is the value of that key.
	Name string
}

// A Slave is the host's end of a relay socket. Its methods are safe for concurrent use.
type Slave struct {
	local    io.ReadWriteCloser
	options  SlaveOptions
	state    *State
	toLocal  counters
	toSocket counters

	mu     sync.Mutex
	socket *frame.Writer // set while announced
	begun  bool
	ended  bool
}

// NewSlave returns a slave between the host at the other end of local and the socket that
// [Slave.Run] is given. The slave takes over local: Run closes it.
func NewSlave(local io.ReadWriteCloser, o *SlaveOptions) *Slave {
	s := &Slave{local: local}
	if o != nil {
		s.options = *o
	}
	if s.options.Logger == nil {
		s.options.Logger = slog.New(slog.DiscardHandler)
	}
	s.options.Logger = s.options.Logger.With("slave", s.options.Name)
	if s.state = s.options.State; s.state == nil {
		s.state = new(State)
	}
	return s
}

// State returns the handle of the RELAY_STATE payloads. It outlives the slave.
func (s *Slave) State() *State { return s.state }

// Stats returns what the slave has done so far.
func (s *Slave) Stats() Stats {
	return Stats{ToLocal: s.toLocal.load(), ToSocket: s.toSocket.load()}
}

// Run announces the host to the socket with initial, unless that is nil, and then carries
// frames both ways until it is done. It may be called once. It closes both links before it
// returns.
//
// When one side ends its direction, the same is done on the other side, and the opposite
// direction goes on until its own end; when both have ended Run returns nil. Any failure (a
// stream's error, a body that is no frame, a frame against its flow's order, a POLICY from the
// host) ends both at once, and so does the end of ctx; Run returns the first failure, or the
// context's cause. Errors are of the kinds of package frame.
func (s *Slave) Run(ctx context.Context, socket io.ReadWriteCloser, initial *frame.Notify) error {
	closeBoth := sync.OnceFunc(func() {
		socket.Close()
		s.local.Close()
	})
	defer closeBoth()
	if err := s.begin(); err != nil {
		return err
	}
	defer s.end()

	group, together := errgroup.WithContext(ctx)
	stop := context.AfterFunc(together, closeBoth)
	defer stop()
	group.Go(func() error { return s.carry(group, socket, initial) })
	if err := group.Wait(); err == nil && ctx.Err() == nil {
		return nil
	}
	return context.Cause(together)
}

// carry announces the host and then carries frames both ways.
func (s *Slave) carry(group *errgroup.Group, socket io.ReadWriteCloser, initial *frame.Notify) error {
	options := &frame.WriterOptions{MaxFrame: s.options.MaxFrame}
	atSocket := &end{link: socket, out: frame.NewWriter(socket, options)}
	atLocal := &end{link: s.local, out: frame.NewWriter(s.local, options)}
	if err := s.announce(atSocket.out, initial); err != nil {
		return err
	}
	held := maxHeld(initial)
	toLocal := newPump(atSocket, atLocal, s.options.MaxFrame, held, &s.toLocal)
	toLocal.intercept = s.fromSocket
	toSocket := newPump(atLocal, atSocket, s.options.MaxFrame, held, &s.toSocket)
	toSocket.intercept = s.fromLocal
	group.Go(func() error { return direction("from the socket to the host", toLocal) })
	return direction("from the host to the socket", toSocket)
}

// direction carries until the end of one direction, and tells the far end of it.
func direction(name string, p *pump) error {
	if err := p.carry(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p.to.endWriting()
	return nil
}

// maxHeld is how many frames of a flow are held.
func maxHeld(initial *frame.Notify) int {
	if initial == nil || initial.Limits.MaxReorderBuffer == 0 {
		return frame.DefaultMaxHeld
	}
	return int(min(initial.Limits.MaxReorderBuffer, math.MaxInt32))
}

// announce writes the first RELAY_NOTIFY and lets SendNotify write others.
func (s *Slave) announce(out *frame.Writer, initial *frame.Notify) error {
	if initial != nil {
		if err := send(out, *initial); err != nil {
			return fmt.Errorf("announcing the host: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.socket = out
	return nil
}

func send(out *frame.Writer, n frame.Notify) error {
	f, err := frame.NewRelayNotify(n)
	if err != nil {
		return err
	}
	if err := out.Write(&f); err != nil {
		return err
	}
	return out.Flush()
}

// SendNotify writes a RELAY_NOTIFY to the socket, between other frames: what the host offers
// has changed. It returns when the frame is on the stream. It fails with [ErrNotStarted] before
// Run has written the first one, and with [ErrEnded] after the end.
func (s *Slave) SendNotify(n frame.Notify) error {
	s.mu.Lock()
	out, ended := s.socket, s.ended
	s.mu.Unlock()
	switch {
	case ended:
		return ErrEnded
	case out == nil:
		return ErrNotStarted
	}
	return send(out, n)
}

func (s *Slave) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun {
		return errors.New("a slave runs once")
	}
	s.begun = true
	return nil
}

func (s *Slave) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// fromSocket decides on a frame outside of flows that came from the socket.
func (s *Slave) fromSocket(p *pump, t frame.Type) (action, error) {
	switch t {
	case frame.TypeRelayState:
		payload := p.in.Frame().Payload
		if payload == nil {
			s.log(t, "without payload, the state stays")
			return drop, nil
		}
		payload = append(make([]byte, 0, len(payload)), payload...)
		s.state.store(payload)
		if s.options.OnState != nil {
			s.options.OnState(payload)
		}
		return keep, nil
	case frame.TypeRelayNotify:
		s.log(t, "from the socket")
		return drop, nil
	}
	return pass, nil
}

// fromLocal decides on a frame outside of flows that came from the host.
func (s *Slave) fromLocal(_ *pump, t frame.Type) (action, error) {
	switch t {
	case frame.TypeRelayState:
		s.log(t, "from the host")
		return drop, nil
	case frame.TypePolicy:
		return drop, frame.Errorf(frame.ErrProtocol, "a policy frame from the host: only the switch may send one")
	}
	return pass, nil
}

func (s *Slave) log(t frame.Type, why string) {
	s.options.Logger.Debug("dropped a frame", "type", t.String(), "why", why)
}

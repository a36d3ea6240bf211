package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"

	"github.com/cosim-go/cosim/relay/frame"
)

// SlaveOptions are the options of [NewSlave]. The zero value has the defaults.
type SlaveOptions struct {
	// MaxFrame is the longest body that is accepted from either side, in bytes; 0 is
	// frame.DefaultMaxFrame.
	MaxFrame int

	// Unnumbered makes the slave pass on what comes from the socket as it comes, whatever its
	// numbers say. It is for a switch that numbers nothing, such as that of the published
	// Python package, whose frames are all number 0. What the host sends is kept in order.
	Unnumbered bool

	// State is where RELAY_STATE payloads go, for a host that keeps one over several slaves.
	// nil makes a new one.
	State *State

	// OnState, when not nil, is called with every RELAY_STATE payload, in order, by the
	// goroutine that reads the socket. What came before has gone to the host; nothing more comes
	// from the socket, and Run does not end, before it returns. The payload is its to keep, not
	// to change.
	OnState func(payload []byte)

	// Logger gets what is dropped and lost, at level debug, with the key slave. nil discards.
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
	begun    atomic.Bool

	mu     sync.RWMutex  // held while a RELAY_NOTIFY is sent; for reading, but for the first one
	ended  bool          // nothing goes to the socket any more
	socket *frame.Writer // set once announced
	fail   context.CancelCauseFunc
}

// NewSlave returns a slave between the host at the other end of local and the socket that
// [Slave.Run] is given. The slave takes over local: Run closes it.
func NewSlave(local io.ReadWriteCloser, o *SlaveOptions) *Slave {
	s := &Slave{local: local}
	if o != nil {
		s.options = *o
	}
	s.options.Logger = loggerOf(s.options.Logger, s.options.Name)
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
// frames both ways until it is done. It may be called once, and closes both links before it
// returns; a second call closes its socket and fails.
//
// When one side ends its direction, the same is done on the other side, and the opposite
// direction goes on until its own end; when both have ended Run returns nil. Any failure (a
// stream's error, a body that is no frame, a frame against its flow's order, a POLICY from the
// host) ends both at once, and so does the end of ctx; Run returns the first failure, or the
// context's cause. Errors are of the kinds of package frame.
func (s *Slave) Run(ctx context.Context, socket io.ReadWriteCloser, initial *frame.Notify) error {
	together, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	if err := s.begin(fail); err != nil {
		socket.Close()
		return err
	}
	defer s.end()
	closeBoth := sync.OnceFunc(func() {
		socket.Close()
		s.local.Close()
	})
	defer closeBoth()
	stop := context.AfterFunc(together, closeBoth)
	s.carry(socket, initial)
	if stop() {
		return nil
	}
	return context.Cause(together)
}

func (s *Slave) begin(fail context.CancelCauseFunc) error {
	if s.begun.Swap(true) {
		return errors.New("a slave runs once")
	}
	s.fail = fail
	return nil
}

// end waits for what is being sent to the socket and lets nothing more be sent.
func (s *Slave) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// carry announces the host and then carries frames until both directions have ended.
func (s *Slave) carry(socket io.ReadWriteCloser, initial *frame.Notify) {
	options := &frame.WriterOptions{MaxFrame: s.options.MaxFrame}
	atSocket := &end{link: socket, out: frame.NewWriter(socket, options)}
	atLocal := &end{link: s.local, out: frame.NewWriter(s.local, options)}
	if err := s.announce(atSocket.out, initial); err != nil {
		s.fail(fmt.Errorf("announcing the host: %w", err))
		return
	}
	held := maxHeld(initial)
	toLocal := newPump(atSocket, atLocal, s.options, held, &s.toLocal)
	toLocal.intercept = s.fromSocket
	if s.options.Unnumbered {
		toLocal.order = nil
	}
	toSocket := newPump(atLocal, atSocket, s.options, held, &s.toSocket)
	toSocket.intercept = s.fromLocal

	var both sync.WaitGroup
	both.Go(func() {
		if s.direction("from the socket to the host", toLocal) {
			atLocal.endWriting()
		}
	})
	both.Go(func() {
		if s.direction("from the host to the socket", toSocket) {
			s.end()
			atSocket.endWriting()
		}
	})
	both.Wait()
}

// direction carries until the end of one direction and reports whether that is an orderly one.
func (s *Slave) direction(name string, p *pump) bool {
	err := p.carry()
	if err != nil {
		s.fail(fmt.Errorf("%s: %w", name, err))
	}
	return err == nil
}

// maxHeld is how many frames of a flow are held.
func maxHeld(initial *frame.Notify) int {
	if initial == nil {
		return frame.DefaultMaxHeld
	}
	return int(min(initial.Limits.MaxReorderBuffer, math.MaxInt32))
}

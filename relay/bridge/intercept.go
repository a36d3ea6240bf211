package bridge

import (
	"log/slog"

	"github.com/cosim-go/cosim/relay/frame"
)

// An action is what becomes of a frame outside of flows.
type action int

const (
	pass action = iota // on, before what is held
	keep               // it was meant for the slave
	drop               // it must not cross
)

// fromSocket decides on a frame outside of flows that came from the socket.
func (s *Slave) fromSocket(p *pump, t frame.Type) (action, error) {
	switch t {
	case frame.TypeRelayState:
		return s.keepState(p)
	case frame.TypeRelayNotify:
		logDrop(s.options.Logger, t, "only a host may announce")
		return drop, nil
	}
	return pass, nil
}

// keepState keeps the payload of a RELAY_STATE, also an empty one.
func (s *Slave) keepState(p *pump) (action, error) {
	payload := p.in.Frame().Payload
	if payload == nil {
		logDrop(s.options.Logger, frame.TypeRelayState, "no payload: the state stays")
		return drop, nil
	}
	payload = append(make([]byte, 0, len(payload)), payload...)
	s.state.store(payload)
	if s.options.OnState == nil {
		return keep, nil
	}
	if err := p.flush(); err != nil {
		return keep, err
	}
	s.options.OnState(payload)
	return keep, nil
}

// fromLocal decides on a frame outside of flows that came from the host.
func (s *Slave) fromLocal(_ *pump, t frame.Type) (action, error) {
	switch t {
	case frame.TypeRelayState:
		logDrop(s.options.Logger, t, "only the switch may send one")
		return drop, nil
	case frame.TypePolicy:
		return drop, frame.Errorf(frame.ErrProtocol, "a policy frame from the host: only the switch may send one")
	}
	return pass, nil
}

// loggerOf returns a logger with the key slave; it discards when l is nil.
func loggerOf(l *slog.Logger, slave string) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l.With("slave", slave)
}

func logDrop(l *slog.Logger, t frame.Type, why string) {
	l.Debug("dropped a frame", "type", t.String(), "why", why)
}

func logLost(l *slog.Logger, frames uint64) {
	l.Debug("lost frames that were held", "frames", frames)
}

package bridge

import (
	"errors"

	"github.com/cosim-go/cosim/relay/frame"
)

// Errors of [Slave.SendNotify] at a time when nothing can be sent.
var (
	ErrNotStarted = errors.New("the slave has not announced its host yet")
	ErrEnded      = errors.New("the slave sends nothing any more")
)

// SendNotify writes a RELAY_NOTIFY to the socket, between other frames: what the host offers
// has changed. It returns when the frame is on the stream, and waits while the socket takes
// nothing.
//
// It fails with [ErrNotStarted] before Run writes the first one, with [ErrEnded] after the
// direction to the socket has ended, with [frame.ErrEncode] or [frame.ErrFrameTooLarge] when n
// makes no frame, and with [frame.ErrIO] when the socket fails, which ends Run too.
func (s *Slave) SendNotify(n frame.Notify) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.ended:
		return ErrEnded
	case s.socket == nil:
		return ErrNotStarted
	}
	err := send(s.socket, n)
	if errors.Is(err, frame.ErrIO) {
		s.fail(err)
	}
	return err
}

// announce writes the first RELAY_NOTIFY, if there is one, and lets SendNotify write others. Who
// calls SendNotify meanwhile waits.
func (s *Slave) announce(out *frame.Writer, initial *frame.Notify) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if initial != nil {
		if err := send(out, *initial); err != nil {
			return err
		}
	}
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

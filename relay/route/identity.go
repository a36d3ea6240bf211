package route

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// nonce is what the identity check of a switch sends and wants back: the CBOR text "bifaci", as it is.
var nonce = []byte("\x66bifaci")

// The streams of identity checks.
var (
	joinStream    = []byte("identity-verify")
	runtimeStream = []byte("identity-verify-runtime")
)

// A check is an identity check of a master that joins. Its reader takes the answer, and whoever waits for it
// reads done.
type check struct {
	echo   echo
	rid    frame.ID
	result error
	done   chan struct{}
}

// An echo is what has come of the answer to an identity check.
type echo struct{ got []byte }

// take takes a frame of the answer. It returns true when that was the last one, with an error when the check
// failed.
func (e *echo) take(f *frame.Frame) (last bool, err error) {
	switch f.Type {
	case frame.TypeStreamStart, frame.TypeStreamEnd, frame.TypeLog, frame.TypeCredit, frame.TypeHeartbeat:
		return false, nil
	case frame.TypeChunk:
		room := len(nonce) + 1 - len(e.got) // one byte too many is as wrong as more of them
		e.got = append(e.got, f.Payload[:min(len(f.Payload), room)]...)
		return false, nil
	case frame.TypeEnd:
		if !bytes.Equal(e.got, nonce) {
			return true, errEcho
		}
		return true, nil
	case frame.TypeErr:
		info, _ := f.ErrInfo()
		return true, errorf(ErrProtocol, "the identity check was refused: %s: %s", info.Code, info.Message)
	}
	return true, errorf(ErrProtocol, "a %s frame in the answer to the identity check", f.Type)
}

var errEcho = errorf(ErrProtocol, "the identity check got back something else than it sent")

// identityFrames returns the frames of an identity check, in order.
func identityFrames(rid frame.ID, stream []byte) [5]frame.Frame {
	req := frame.NewReq(rid, []byte(caps.Identity))
	req.ContentType = defaultContentType
	return [...]frame.Frame{
		req,
		frame.NewStreamStart(rid, stream, []byte("media:")),
		frame.NewChunk(rid, stream, 0, nonce, flow.Checksum(nonce)),
		frame.NewStreamEnd(rid, stream, frame.Some[uint64](1)),
		frame.NewBodyEnd(rid),
	}
}

// verify serves a link that has announced itself, as far as it goes before it is installed: a policy, and, if the
// host has caps, the identity check. It returns when the check is over, or why it failed; the link lives on
// unless it was lost.
func (s *Switch) verify(ctx context.Context, l *link) error {
	c, err := s.greet(l)
	if err != nil || c == nil {
		return err
	}
	limit := time.NewTimer(s.options.IdentityLimit)
	defer limit.Stop()
	select {
	case <-c.done:
		return c.result
	case <-limit.C:
		err = errLate
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.check == nil { // it ended just now
		return c.result
	}
	s.endCheck(l, err)
	return err
}

var errLate = errors.New("the identity check was not answered in time")

// greet starts the reader of a link, after the first frames to it. It returns the identity check if there is one.
func (s *Switch) greet(l *link) (c *check, err error) {
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	t := s.turn()
	if c, err = s.sendGreeting(t, l); err == nil {
		s.links[l] = struct{}{}
		s.running.Go(func() { s.read(ctx, l, c != nil) })
	}
	s.end(t)
	if err != nil {
		stop()
		l.close()
		l.out.Close()
	}
	return c, err
}

// sendGreeting writes what a host gets first: a policy, and the identity check if it has caps. mu is held.
func (s *Switch) sendGreeting(t *turn, l *link) (*check, error) {
	if s.closed {
		return nil, errClosed
	}
	if s.policy != nil {
		if err := l.send(t, s.policy.frame()); err != nil {
			return nil, fmt.Errorf("writing the policy: %w", err)
		}
	}
	if len(l.offer.inventory.Caps) == 0 {
		return nil, nil
	}
	if err := s.ask(t, l); err != nil {
		return nil, fmt.Errorf("writing the identity check: %w", err)
	}
	return l.check, nil
}

// ask writes an identity check. mu is held.
func (s *Switch) ask(t *turn, l *link) error {
	l.check = &check{rid: frame.NewUUID(), done: make(chan struct{})}
	xid := s.nextNumber()
	frames := identityFrames(l.check.rid, joinStream)
	for i := range frames {
		frames[i].RoutingID = xid
		if err := l.send(t, &frames[i]); err != nil {
			return err
		}
	}
	return nil
}

// endCheck ends the identity check of a link that joins. What comes of it later is late. mu is held.
func (s *Switch) endCheck(l *link, result error) {
	c := l.check
	l.check = nil
	s.ended.Add(c.rid)
	c.result = result
	close(c.done)
}

// A verdict is what became of a frame that came during an identity check.
type verdict int

const (
	checkGoesOn verdict = iota // it was taken
	checkEnded                 // it was taken, and was the last one
	checkOver                  // it is not part of the check, which is over
)

// checking takes a frame that came while the link's identity check was under way. An error ends the link.
func (s *Switch) checking(l *link, f *frame.Frame) (verdict, error) {
	switch f.Type {
	case frame.TypeRelayNotify:
		s.notified(l, f)
		return checkGoesOn, nil
	case frame.TypePolicy:
		return checkOver, errPolicy
	}
	t := s.turn()
	defer s.end(t)
	c := l.check
	if c == nil {
		return checkOver, nil
	}
	if f.ID != c.rid && isResponse(f.Type) {
		s.stray(t, l, s.requests[f.ID], f) // a late echo of an earlier check, or of a request from before
		return checkGoesOn, nil
	}
	last, err := c.echo.take(f)
	if !last {
		return checkGoesOn, nil
	}
	s.endCheck(l, err)
	if err != nil && !isResponse(f.Type) {
		return checkOver, nil // what has no place in the check may have one after it
	}
	return checkEnded, nil
}

// isResponse reports whether frames of the type are part of a response.
func isResponse(t frame.Type) bool {
	switch t {
	case frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd, frame.TypeErr:
		return true
	}
	return false
}

package cartridge_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// A peer call that comes back and ends with an ERR both ways: what was sent first comes back first.
func TestPeerCallThatComesBackAndFailsBothWays(t *testing.T) {
	for name, bodyFirst := range map[string]bool{"the body first": true, "the response first": false} {
		t.Run(name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			c := cartridge.New("demo", "1", nil)
			giveUp, fail, seen := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			c.Handle(selfCap, "Inner", func(ctx context.Context, r *cartridge.Request) error {
				if bodyFirst {
					_, err := r.Next()
					seen <- err
				} else {
					<-fail
				}
				return &cartridge.Error{Code: "RESPONSE", Attribution: frame.AttributionInput, Message: "of the response"}
			})
			c.Handle(testCap, "Outer", func(ctx context.Context, r *cartridge.Request) error {
				l, err := r.Open(ctx, callRequest(selfCap))
				if err != nil {
					return err
				}
				<-giveUp
				f, err := frame.NewErr(l.ID(), (&cartridge.Error{Code: "BODY", Attribution: frame.AttributionInput}).Info())
				if err != nil {
					return err
				}
				if err := l.Send(ctx, &f); err != nil {
					return err
				}
				got, err := l.Next(ctx)
				if err != nil {
					return err
				}
				i, err := got.ErrInfo()
				if err != nil || string(i.Code) != "RESPONSE" {
					return errors.New("the peer call ended with " + string(i.Code))
				}
				return nil
			})
			s := greeted(t, c, 32)
			r := s.req(testCap)
			p := r.wantPeer(selfCap)
			req := frame.NewReq(p.id, []byte(selfCap))
			p.sendAs(&req) // it comes back
			next := func() *frame.Frame {
				f := s.want(frame.TypeErr)
				require.Equal(t, p.id, f.ID)
				return f
			}
			if bodyFirst {
				close(giveUp)
				p.sendAs(next())
				var e *cartridge.Error
				require.ErrorAs(t, <-seen, &e)
				require.Equal(t, "BODY", e.Code)
				p.sendAs(next())
			} else {
				close(fail)
				response := next()
				close(giveUp)
				body := next()
				require.True(t, body.RoutingID.IsZero())
				p.sendAs(response)
				r.wantSuccess()
				p.sendAs(body)
				require.Equal(t, uint64(1), s.silent().Stragglers.Or(99))
				require.NoError(t, s.finish())
				return
			}
			r.wantSuccess()
			require.NoError(t, s.finish())
		})
	}
}

// The end of a peer call that was cancelled is the response's, though the body has ended as well.
func TestPeerCallThatComesBackAndIsCancelled(t *testing.T) {
	relaytest.NoLeaks(t)
	c := cartridge.New("demo", "1", nil)
	c.Handle(selfCap, "Inner", func(ctx context.Context, r *cartridge.Request) error {
		<-ctx.Done()
		return nil
	})
	c.Handle(testCap, "Outer", func(ctx context.Context, r *cartridge.Request) error {
		l, err := r.Open(ctx, callRequest(selfCap))
		if err != nil {
			return err
		}
		f := frame.NewBodyEnd(l.ID())
		if err := l.Send(ctx, &f); err != nil {
			return err
		}
		got, err := l.Next(ctx)
		if err != nil || got.Type != frame.TypeErr {
			return errors.New("no ERR")
		}
		return nil
	})
	s := greeted(t, c, 32)
	r := s.req(testCap)
	p := r.wantPeer(selfCap)
	req := frame.NewReq(p.id, []byte(selfCap))
	p.sendAs(&req)
	p.wantBody(frame.TypeEnd)
	p.err("CANCELLED", frame.AttributionUser) // a switch answers for who it cancels
	r.wantSuccess()
	p.cancel(byUser)
	_ = p.want(frame.TypeErr)
	require.NoError(t, s.finish())
}

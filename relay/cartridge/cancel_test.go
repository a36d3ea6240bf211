package cartridge_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
	"github.com/cosim-go/cosim/relay/relaytest"
)

var byUser = call.ErrCancelledByUser.Reason()

// A cancel ends whatever the handler waits for, with the reason; the ERR comes when the handler has ended.
func TestCancelWakesTheHandler(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context, r *cartridge.Request) error{
		"waiting for an argument": func(_ context.Context, r *cartridge.Request) error {
			if _, err := r.Next(); err != nil {
				return err
			}
			_, err := r.Next() // the second, which never comes
			return err
		},
		"waiting for a chunk": func(_ context.Context, r *cartridge.Request) error {
			in, err := r.Next()
			if err != nil {
				return err
			}
			_, err = io.ReadAll(in)
			return err
		},
		"waiting for credit": func(_ context.Context, r *cartridge.Request) error {
			out := r.Output("media:", nil)
			for {
				if _, err := out.Write(make([]byte, 5000)); err != nil {
					return err
				}
			}
		},
		"waiting for a peer": func(ctx context.Context, r *cartridge.Request) error {
			c, err := call.Start(ctx, r, call.Request{Cap: "cap:other"})
			if err != nil {
				return err
			}
			defer c.Close()
			_, err = c.Next(ctx)
			return err
		},
		"waiting for its context": func(ctx context.Context, _ *cartridge.Request) error {
			<-ctx.Done()
			return nil // as if nothing was
		},
	} {
		t.Run(name, func(t *testing.T) {
			begun, release := make(chan struct{}), make(chan struct{})
			s := served(t, 2, func(ctx context.Context, r *cartridge.Request) error {
				close(begun)
				err := wait(ctx, r)
				if err == nil {
					err = context.Cause(ctx)
				}
				if !errors.Is(err, call.ErrCancelledByUser) {
					t.Errorf("the handler got %v", err)
				}
				<-release
				return err
			})
			r := s.req(testCap)
			r.begin("arg0")
			<-begun
			r.cancel(byUser)
			r.cancel(frame.CancelReason{Code: []byte("OTHER")}) // a second one changes nothing
			probe, err := frame.NewHeartbeat(frame.NewUUID(), frame.Heartbeat{})
			require.NoError(t, err)
			s.send(&probe)
			for f := s.next(); f.Type != frame.TypeHeartbeat; f = s.next() {
				require.NotEqual(t, frame.TypeErr, f.Type, "before the handler has ended")
			}
			close(release)
			for f := s.next(); ; f = s.next() {
				if f.Type == frame.TypeErr {
					i, err := f.ErrInfo()
					require.NoError(t, err)
					require.Equal(t, r.id, f.ID)
					require.Equal(t, "CANCELLED", string(i.Code))
					require.Equal(t, frame.AttributionUser, i.Attribution)
					require.Equal(t, "Cancelled by user", string(i.Message))
					break
				}
			}
			r.cancel(byUser) // of what is not known any more
			require.NoError(t, s.finish())
		})
	}
}

// The words of a cancel, by its reason.
func TestCancelReasons(t *testing.T) {
	for _, test := range []struct {
		reason  call.Cancelled
		code    string
		class   frame.Attribution
		message string
	}{
		{*call.ErrCancelledByUser, "CANCELLED", frame.AttributionUser, "Cancelled by user"},
		{call.Cancelled{}, "CANCELLED", frame.AttributionInternal, "the request was cancelled"},
		{
			call.Cancelled{Code: "ABORTED_COLLATERAL", Attribution: frame.AttributionResource, Message: "step 2"},
			"ABORTED_COLLATERAL", frame.AttributionResource, "aborted because of a failure elsewhere: step 2",
		},
		{
			call.Cancelled{Code: "ABORTED", Attribution: frame.AttributionEnvironment, Message: "going down"},
			"ABORTED", frame.AttributionEnvironment, "aborted by the host: going down",
		},
	} {
		t.Run(test.message, func(t *testing.T) {
			begun := make(chan struct{})
			s := served(t, 2, func(ctx context.Context, r *cartridge.Request) error {
				close(begun)
				<-ctx.Done()
				if context.Cause(ctx).Error() != test.message {
					t.Errorf("cause = %v", context.Cause(ctx))
				}
				return nil
			})
			r := s.req(testCap)
			<-begun
			r.cancel(test.reason.Reason())
			i := r.wantErr(test.code, test.class)
			require.Equal(t, test.message, string(i.Message))
			require.NoError(t, s.finish())
		})
	}
}

// LOG queued when a request has to wait, dequeued when it is served; one that is cancelled while it waits is answered at
// once.
func TestQueue(t *testing.T) {
	relaytest.NoLeaks(t)
	c := cartridge.New("demo", "1", &cartridge.Options{
		Pools: manifest.PoolDeclarations{Capacities: map[string]uint64{testCap: 1}},
	})
	release := make(chan struct{})
	c.Handle(testCap, "Test", func(context.Context, *cartridge.Request) error { <-release; return nil })
	s := greeted(t, c, 32)

	first := s.req(testCap)
	second := s.req(testCap)
	level := func(r *flowing) string {
		l, err := r.want(frame.TypeLog).LogInfo()
		require.NoError(t, err)
		return string(l.Level)
	}
	require.Equal(t, "queued", level(second))
	third := s.req(testCap)
	require.Equal(t, "queued", level(third))

	pools, err := manifest.ParsePools(s.silent().Pools)
	require.NoError(t, err)
	require.Equal(t, uint64(1), pools[testCap].Active)
	require.Equal(t, uint64(2), pools[testCap].Queued)

	second.cancel(byUser)
	second.wantErr("CANCELLED", frame.AttributionUser)
	s.silent() // the first goes on
	release <- struct{}{}
	first.wantSuccess()
	require.Equal(t, "dequeued", level(third))
	release <- struct{}{}
	third.wantSuccess()
	require.NoError(t, s.finish())
}

// A cancel closes an argument at once, with what has arrived of it.
func TestCancelClosesInput(t *testing.T) {
	begun := make(chan struct{})
	s := served(t, 32, func(ctx context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return err
		}
		close(begun)
		<-ctx.Done()
		if n, err := in.Read(make([]byte, 1)); n > 0 || !errors.Is(err, call.ErrCancelledByUser) {
			t.Errorf("Read = %d, %v", n, err)
		}
		if _, err := r.Next(); !errors.Is(err, call.ErrCancelledByUser) {
			t.Errorf("Next: %v", err)
		}
		if _, err := r.Output("media:", nil).Write(make([]byte, 5000)); !errors.Is(err, call.ErrCancelledByUser) {
			t.Errorf("Write: %v", err)
		}
		return nil
	})
	r := s.req(testCap)
	r.arg("arg0", bstr("x"))
	r.arg("arg1", bstr("x"))
	<-begun
	r.cancel(byUser)
	r.wantErr("CANCELLED", frame.AttributionUser)
	require.NoError(t, s.finish())
}

// What comes for a request after its CANCEL is counted.
func TestBodyAfterCancel(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	s := served(t, 32, func(context.Context, *cartridge.Request) error { close(begun); <-release; return nil })
	r := s.req(testCap)
	r.begin("arg0")
	<-begun
	r.cancel(byUser)
	r.chunk("arg0", bstr("x"))
	require.Equal(t, uint64(1), s.silent().Drops.Or(99))
	close(release)
	r.wantErr("CANCELLED", frame.AttributionUser)
	require.NoError(t, s.finish())
}

func TestCloseStream(t *testing.T) {
	for name, id := range map[string][]byte{"one": []byte("arg1"), "all": nil} {
		t.Run(name, func(t *testing.T) {
			waits := make(chan struct{})
			s := served(t, 32, func(ctx context.Context, r *cartridge.Request) error {
				var ins []*cartridge.Input
				for in, err := range r.Args() {
					if err != nil {
						return err
					}
					ins = append(ins, in)
				}
				first, second := ins[0].Closing(), ins[1].Closing()
				close(waits)
				<-second
				<-r.Closing()
				if id == nil {
					<-first
				}
				select {
				case <-first:
				default:
					if id == nil {
						return errors.New("arg0 is not closed")
					}
				}
				if ctx.Err() != nil {
					return errors.New("a CLOSE_STREAM is no cancel")
				}
				if _, err := r.Output("media:", nil).Write([]byte("fin")); err != nil {
					return err
				}
				return nil
			})
			r := s.req(testCap)
			r.arg("arg0", bstr("x"))
			r.arg("arg1", bstr("x"))
			r.endBody()
			<-waits
			f := frame.NewCloseStream(r.id, id)
			r.sendAs(&f)
			r.want(frame.TypeStreamStart)
			require.Equal(t, bstr("fin"), r.want(frame.TypeChunk).Payload)
			r.want(frame.TypeStreamEnd)
			r.wantSuccess()
			require.NoError(t, s.finish())
		})
	}
}

// A CLOSE_STREAM that comes before its argument, or before anybody asks.
func TestCloseStreamEarly(t *testing.T) {
	ask := make(chan struct{})
	s := served(t, 32, func(ctx context.Context, r *cartridge.Request) error {
		<-ask
		in, err := r.Next()
		if err != nil {
			return err
		}
		<-r.Closing()
		<-in.Closing()
		return nil
	})
	r := s.req(testCap)
	f := frame.NewCloseStream(r.id, nil)
	r.sendAs(&f)
	r.sendAs(&f)
	r.begin("arg0")
	s.silent()
	close(ask)
	r.wantSuccess()
	require.NoError(t, s.finish())
}

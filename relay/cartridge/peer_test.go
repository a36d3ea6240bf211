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
	"github.com/cosim-go/cosim/relay/relaytest"
)

// wantPeer reads a peer call: a REQ without XID, with the request that it is made for.
func (r *flowing) wantPeer(cap string) *flowing {
	r.t.Helper()
	f := r.script.want(frame.TypeReq)
	require.Equal(r.t, cap, string(f.Cap))
	require.True(r.t, f.RoutingID.IsZero())
	require.NotEqual(r.t, r.id, f.ID)
	require.Equal(r.t, r.id, f.ReqInfo().ParentRID)
	require.Empty(r.t, f.Payload)
	nextXID++
	return &flowing{script: r.script, id: f.ID, xid: frame.Number(nextXID), chunks: map[string]uint64{}}
}

// wantBody reads a frame of a peer call's body.
func (r *flowing) wantBody(t frame.Type) *frame.Frame {
	r.t.Helper()
	f := r.script.want(t)
	require.Equal(r.t, r.id, f.ID)
	require.True(r.t, f.RoutingID.IsZero(), "a cartridge does not route")
	return f
}

func (r *flowing) end(exit int64) {
	r.t.Helper()
	f, err := frame.NewEnd(r.id, frame.EndInfo{ExitCode: frame.Some(exit)})
	require.NoError(r.t, err)
	r.sendAs(&f)
}

func (r *flowing) err(code string, a frame.Attribution) {
	r.t.Helper()
	f, err := frame.NewErr(r.id, frame.ErrInfo{Code: []byte(code), Attribution: a, Message: []byte("so it is")})
	require.NoError(r.t, err)
	r.sendAs(&f)
}

// Law L14: peer calls are credited as all others.
func TestPeerCall(t *testing.T) {
	s := served(t, 2, func(ctx context.Context, r *cartridge.Request) error {
		got, err := call.Do(ctx, r, "cap:other", call.Bytes("media:x", make([]byte, 3*262144)))
		if err != nil {
			return err
		}
		_, err = r.Output("media:", nil).Write(got)
		return err
	})
	r := s.req(testCap)
	p := r.wantPeer("cap:other")
	begin := p.wantBody(frame.TypeStreamStart)
	require.Equal(t, "arg0 media:x", string(begin.StreamID)+" "+string(begin.MediaURN))
	require.False(t, begin.IsSequence.IsSet())
	p.wantBody(frame.TypeChunk)
	p.wantBody(frame.TypeChunk)
	s.silent() // no credit left
	f := frame.NewCredit(p.id, []byte("arg0"), 1, frame.RequestDirection)
	p.sendAs(&f)
	p.wantBody(frame.TypeChunk)
	require.Equal(t, uint64(3), p.wantBody(frame.TypeStreamEnd).ChunkCount.Or(0))
	require.False(t, p.wantBody(frame.TypeEnd).EndInfo().ExitCode.IsSet())

	p.begin("out", false)
	p.chunk("out", bstr("answer"))
	p.chunk("out", bstr("!"))
	for granted := uint64(0); granted < 2; {
		f := p.wantBody(frame.TypeCredit)
		require.Equal(t, "out response", string(f.StreamID)+" "+f.CreditDirection().String())
		granted += f.Credit.Or(0)
	}
	p.endStream("out")
	p.end(0)
	r.want(frame.TypeStreamStart)
	require.Equal(t, bstr("answer!"), r.want(frame.TypeChunk).Payload)
	r.want(frame.TypeStreamEnd)
	r.wantSuccess()

	p.end(0) // too late
	require.Equal(t, uint64(1), s.silent().Stragglers.Or(99))
	require.NoError(t, s.finish())
}

// The error of a peer call can be passed on as it is.
func TestPeerCallThatFails(t *testing.T) {
	s := served(t, 2, func(ctx context.Context, r *cartridge.Request) error {
		_, err := call.Do(ctx, r, "cap:other")
		return err
	})
	r := s.req(testCap)
	p := r.wantPeer("cap:other")
	p.wantBody(frame.TypeEnd)
	p.err("NO_HANDLER", frame.AttributionEnvironment)
	r.wantErr("NO_HANDLER", frame.AttributionEnvironment)
	require.NoError(t, s.finish())
}

func TestPeerCallOfACartridge(t *testing.T) {
	s := served(t, 2, func(ctx context.Context, r *cartridge.Request) error {
		var b frame.MetaBuilder
		b.Text("lang", "en")
		meta, _ := b.Meta()
		l, err := r.Open(ctx, call.Request{
			Cap: "cap:other", Cartridge: "that", ID: frame.Number(77), ContentType: "text/plain", Meta: meta,
		})
		if err != nil {
			return err
		}
		if _, err := r.Open(ctx, call.Request{Cap: "cap:other", ID: frame.Number(77)}); err == nil {
			return errors.New("an id twice")
		}
		_, err = l.Next(ctx)
		return err
	})
	r := s.req(testCap)
	f := s.want(frame.TypeReq)
	require.Equal(t, frame.Number(77), f.ID)
	require.Equal(t, "text/plain", string(f.ContentType))
	require.Equal(t, "that", string(f.ReqInfo().TargetCartridge))
	require.Equal(t, r.id, f.ReqInfo().ParentRID)
	lang, _ := f.Meta.Text("lang")
	require.Equal(t, "en", string(lang))
	r.cancel(byUser)
	c := s.want(frame.TypeCancel)
	require.Equal(t, frame.Number(77), c.ID)
	require.NoError(t, s.finish())
}

// A cancel goes on to the peer calls, with its reason and without an XID.
func TestCancelGoesOnToPeerCalls(t *testing.T) {
	s := served(t, 2, func(ctx context.Context, r *cartridge.Request) error {
		_, err := call.Do(ctx, r, "cap:other")
		return err
	})
	r := s.req(testCap)
	p := r.wantPeer("cap:other")
	p.wantBody(frame.TypeEnd)
	r.cancel(byUser)
	c := p.wantBody(frame.TypeCancel)
	require.Equal(t, call.ErrCancelledByUser, call.CancelledFrom(c.CancelReason()))
	require.False(t, c.ForceKill.Or(false))
	p.err("CANCELLED", frame.AttributionUser)
	for f := s.next(); f.Type != frame.TypeErr; f = s.next() {
		require.Equal(t, frame.TypeCancel, f.Type) // from the context too, perhaps
	}
	require.NoError(t, s.finish())
}

// Peer calls that a handler leaves behind are cancelled. What still comes of them is counted until they end.
func TestPeerCallsThatAreLeft(t *testing.T) {
	s := served(t, 2, func(ctx context.Context, r *cartridge.Request) error {
		_, err := r.Open(ctx, callRequest("cap:other"))
		return err
	})
	r := s.req(testCap)
	p := r.wantPeer("cap:other")
	c := p.wantBody(frame.TypeCancel)
	require.Equal(t, "ABORTED internal", string(c.CancelReason().Code)+" "+c.CancelReason().Attribution.String())
	r.wantSuccess()
	p.begin("out")
	p.chunk("out", bstr("x"))
	p.err("ABORTED", frame.AttributionInternal)
	p.chunk("out", bstr("x"))
	h := s.silent()
	require.Equal(t, uint64(2), h.Drops.Or(99))
	require.Equal(t, uint64(1), h.Stragglers.Or(99))
	require.NoError(t, s.finish())
}

// Peer calls that run when the connection ends have an ERR.
func TestPeerCallAtTheEndOfTheConnection(t *testing.T) {
	got := make(chan error, 1)
	s := served(t, 2, func(ctx context.Context, r *cartridge.Request) error {
		c, err := call.Start(context.WithoutCancel(ctx), r, callRequest("cap:other"))
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.Next(context.WithoutCancel(ctx))
		got <- err
		return err
	})
	r := s.req(testCap)
	r.wantPeer("cap:other")
	require.NoError(t, s.finish())
	var e *call.Error
	require.ErrorAs(t, <-got, &e)
	require.Equal(t, "ABORTED", e.Code)
	require.Equal(t, frame.AttributionEnvironment, e.Attribution)
}

const selfCap = "cap:self"

// A peer call that the same cartridge serves: body and response have the same ids on their way to it.
func TestPeerCallThatComesBack(t *testing.T) {
	data := pattern(1 << 20)
	for name, early := range map[string]bool{"answered after the body": false, "answered early": true} {
		t.Run(name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			c := cartridge.New("demo", "1", nil)
			inner, innerDone := make(chan struct{}), make(chan struct{})
			c.Handle(selfCap, "Inner", func(ctx context.Context, r *cartridge.Request) error {
				in, err := r.Next()
				if err != nil {
					return err
				}
				out := r.Output("media:", nil)
				if early {
					if _, err := out.Write(make([]byte, 5000)); err != nil {
						return err
					}
					close(inner)
				}
				_, err = io.Copy(out, in)
				return err
			})
			c.Handle(testCap, "Outer", func(ctx context.Context, r *cartridge.Request) error {
				in, err := r.Next()
				if err != nil {
					return err
				}
				body := io.Reader(in)
				if early {
					body = io.MultiReader(afterwards{inner, innerDone}, in)
				}
				c, err := call.Start(ctx, r, callRequest(selfCap), call.Arg{Body: body})
				if err != nil {
					return err
				}
				defer c.Close()
				out := r.Output("media:", nil)
				skip := 0
				if early {
					skip = 5000
				}
				for {
					e, err := c.Next(ctx)
					if err == io.EOF {
						return nil
					}
					if err != nil {
						return err
					}
					if e.Kind == call.EventData {
						if early && skip == 5000 {
							close(innerDone)
						}
						n := min(skip, len(e.Data))
						skip -= n
						if _, err := out.Write(e.Data[n:]); err != nil {
							return err
						}
					}
				}
			})
			h := serve(t, c, frame.DefaultLimits())
			for range 3 {
				got, err := call.Do(t.Context(), h, testCap, call.Bytes("media:", data))
				require.NoError(t, err)
				require.True(t, string(data) == string(got))
				if early {
					inner, innerDone = make(chan struct{}), make(chan struct{})
				}
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			require.Zero(t, h.lost)
			require.Empty(t, h.peers)
		})
	}
}

// An afterwards is empty, but only after both of its events.
type afterwards struct{ first, second chan struct{} }

func (a afterwards) Read([]byte) (int, error) {
	<-a.first
	<-a.second
	return 0, io.EOF
}

// The answer of a peer call that comes back may be over before its body is.
func TestPeerCallThatComesBackAndEndsEarly(t *testing.T) {
	relaytest.NoLeaks(t)
	c := cartridge.New("demo", "1", nil)
	c.Handle(selfCap, "Inner", func(ctx context.Context, r *cartridge.Request) error {
		_, err := r.Output("media:", nil).Write([]byte("enough"))
		return err
	})
	c.Handle(testCap, "Outer", func(ctx context.Context, r *cartridge.Request) error {
		body, w := io.Pipe()
		defer w.Close()
		c, err := call.Start(ctx, r, callRequest(selfCap), call.Arg{Body: body})
		if err != nil {
			return err
		}
		defer c.Close()
		outputs, err := c.Collect(ctx)
		if err != nil {
			return err
		}
		_, err = r.Output("media:", nil).Write(outputs[0].Data)
		return err
	})
	h := serve(t, c, frame.DefaultLimits())
	for range 10 {
		got, err := call.Do(t.Context(), h, testCap)
		require.NoError(t, err)
		require.Equal(t, "enough", string(got))
	}
}

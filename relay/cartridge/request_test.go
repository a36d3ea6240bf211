package cartridge_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

const testCap = "cap:test"

// served serves one handler for testCap, with credit for some CHUNKs.
func served(t *testing.T, credit uint64, h cartridge.Handler) *script {
	relaytest.NoLeaks(t)
	c := cartridge.New("demo", "1", nil)
	c.Handle(testCap, "Test", h)
	return greeted(t, c, credit)
}

// Two nonces: the host wraps its own, a switch sends it as it is; what was sent has to come back.
func TestIdentityEchoesWhatWasSent(t *testing.T) {
	for name, payload := range map[string][]byte{
		"of a host":        []byte("\x47bifaci"),
		"of a switch":      []byte("bifaci"),
		"bytes":            bstr("bifaci!"),
		"an empty payload": {},
	} {
		t.Run(name, func(t *testing.T) {
			s := served(t, 32, idle)
			r := s.req(echoCap)
			r.arg("identity-verify", payload)
			r.endBody()
			begin := r.want(frame.TypeStreamStart)
			require.NotEqual(t, "identity-verify", string(begin.StreamID))
			require.Equal(t, "media:", string(begin.MediaURN))
			require.False(t, begin.IsSequence.IsSet())
			chunk := r.want(frame.TypeChunk)
			require.Equal(t, payload, chunk.Payload)
			require.Equal(t, flow.Checksum(payload), chunk.Checksum.Or(0))
			require.Equal(t, begin.StreamID, chunk.StreamID)
			end := r.want(frame.TypeStreamEnd)
			require.Equal(t, uint64(1), end.ChunkCount.Or(0))
			last := r.want(frame.TypeEnd)
			require.True(t, last.EndInfo().Succeeded())
			require.Equal(t, []uint64{0, 1, 2, 3}, []uint64{begin.Seq, chunk.Seq, end.Seq, last.Seq})
			s.silent()
			require.NoError(t, s.finish())
		})
	}
}

func TestIdentityWithXID0(t *testing.T) {
	s := served(t, 32, idle)
	nextXID = ^uint64(0)
	r := s.req(echoCap)
	require.Equal(t, frame.Number(0), r.xid)
	r.arg("identity-verify", []byte("\x47bifaci"))
	r.endBody()
	for _, typ := range []frame.Type{frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeEnd} {
		r.want(typ)
	}
	require.NoError(t, s.finish())
}

// The kinds of arguments come back from identity as they are.
func TestIdentityKeepsStreams(t *testing.T) {
	s := served(t, 32, idle)
	r := s.req(echoCap)
	f := frame.NewStreamStart(r.id, []byte("arg0"), []byte("media:image"))
	f.IsSequence, f.Unbounded = frame.Some(true), frame.Some(true)
	var b frame.MetaBuilder
	b.Text("title", "cat")
	f.Meta, _ = b.Meta()
	r.sendAs(&f)
	r.chunk("arg0", []byte{0x82, 1}) // [1, ...
	r.chunk("arg0", []byte{2})       // ... 2]
	end := frame.NewStreamEnd(r.id, []byte("arg0"), frame.Optional[uint64]{})
	r.sendAs(&end)
	r.arg("arg1", bstr("x"))
	r.endBody()

	begin := r.want(frame.TypeStreamStart)
	require.True(t, begin.IsSequence.Or(false) && begin.Unbounded.Or(false))
	require.Equal(t, "media:image", string(begin.MediaURN))
	title, _ := begin.Meta.Text("title")
	require.Equal(t, "cat", string(title))
	var got []string
	for {
		f := s.next()
		if f.Type == frame.TypeCredit {
			continue
		}
		got = append(got, fmt.Sprintf("%v %x", f.Type, f.Payload))
		if f.Type == frame.TypeEnd {
			break
		}
		require.True(t, f.Type != frame.TypeStreamEnd || len(got) != 3 || !f.ChunkCount.IsSet(), "unbounded")
	}
	require.Equal(t, []string{
		"chunk 8201", "chunk 02", "stream_end ", "stream_start ", "chunk 4178", "stream_end ", "end ",
	}, got)
	require.NoError(t, s.finish())
}

func TestRequestsThatNobodyServes(t *testing.T) {
	s := served(t, 32, idle)
	for _, test := range []struct {
		code  string
		class frame.Attribution
		do    func(f *frame.Frame)
	}{
		{"INVALID_REQUEST", frame.AttributionInternal, func(f *frame.Frame) { f.Cap = nil }},
		{"NO_HANDLER", frame.AttributionEnvironment, func(f *frame.Frame) { f.Cap = []byte("cap:unknown") }},
		{"NO_HANDLER", frame.AttributionEnvironment, func(f *frame.Frame) { f.Cap = []byte("no cap at all") }},
		{"PROTOCOL_ERROR", frame.AttributionInternal, func(f *frame.Frame) { f.Payload = []byte("x") }},
	} {
		r := s.begin(testCap, test.do)
		r.wantErr(test.code, test.class)
		r.arg("arg0", bstr("late"))
		r.endBody()
	}
	h := s.silent()
	require.Equal(t, uint64(0), h.Drops.Or(99))
	require.Equal(t, uint64(16), h.Stragglers.Or(99), "the bodies of refused requests")
	require.NoError(t, s.finish())
}

func TestHandlerThatFails(t *testing.T) {
	own := &cartridge.Error{Code: "BAD_IMAGE", Attribution: frame.AttributionInput, Message: "no image", ArgURN: "media:image"}
	for name, test := range map[string]struct {
		h       cartridge.Handler
		code    string
		class   frame.Attribution
		message string
		arg     string
	}{
		"with a code of its own": {
			func(context.Context, *cartridge.Request) error { return fmt.Errorf("reading: %w", own) },
			"BAD_IMAGE", frame.AttributionInput, "no image", "media:image",
		},
		"with an error of no class": {
			func(context.Context, *cartridge.Request) error { return errors.New("odd") },
			"HANDLER_ERROR", frame.AttributionInternal, "odd", "",
		},
		"with an empty error": {
			func(context.Context, *cartridge.Request) error { return &cartridge.Error{} },
			"HANDLER_ERROR", frame.AttributionInternal, "HANDLER_ERROR", "",
		},
		"with a text that is no UTF-8": {
			func(context.Context, *cartridge.Request) error { return errors.New("\xff") },
			"HANDLER_ERROR", frame.AttributionInternal, "\uFFFD", "",
		},
		"with a very long text": {
			func(context.Context, *cartridge.Request) error { return errors.New(strings.Repeat("x", 8<<20)) },
			"HANDLER_ERROR", frame.AttributionInternal, strings.Repeat("x", 64<<10) + " ...", "",
		},
		"by a panic": {
			func(context.Context, *cartridge.Request) error { panic("at the disco") },
			"HANDLER_ERROR", frame.AttributionInternal, "the handler panicked: at the disco", "",
		},
		"by the end of its goroutine": {
			func(context.Context, *cartridge.Request) error { runtime.Goexit(); return nil },
			"HANDLER_ERROR", frame.AttributionInternal, "the handler ended its goroutine without returning", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := served(t, 32, test.h)
			r := s.req(testCap)
			r.endBody()
			i := r.wantErr(test.code, test.class)
			require.Equal(t, test.message, string(i.Message))
			require.Equal(t, test.arg, string(i.ArgURN))
			s.silent()
			require.NoError(t, s.finish())
		})
	}
}

// Laws L3, L5: the last progress and message ride on the END.
func TestProgressAndLog(t *testing.T) {
	s := served(t, 32, func(_ context.Context, r *cartridge.Request) error {
		r.Log("warn", frame.AttributionInput, "odd input")
		r.Log("", frame.NoAttribution, "by default")
		r.Log("info", frame.AttributionInput, "  ")
		r.Progress(0.25, "reading")
		r.Progress(7, "") // above 1, and with nothing to say
		return nil
	})
	r := s.req(testCap)
	r.endBody()
	for _, want := range []string{"warn odd input input -1", "info by default internal -1", "progress reading  0.25", "progress Test  1"} {
		l, err := r.want(frame.TypeLog).LogInfo()
		require.NoError(t, err)
		require.Equal(t, want, fmt.Sprintf("%s %s %v %v", l.Level, l.Message, l.Attribution, l.Progress.Or(-1)))
	}
	i := r.wantSuccess()
	require.Equal(t, 1.0, i.Progress.Or(-1))
	require.Empty(t, i.Message)
	require.NoError(t, s.finish())
}

func TestRequestTellsWhatCame(t *testing.T) {
	seen := make(chan string, 1)
	s := served(t, 32, func(_ context.Context, r *cartridge.Request) error {
		v, _ := r.Meta().Text("lang")
		seen <- fmt.Sprint(r.ID(), " ", r.Cap(), " ", r.ContentType(), " ", string(v))
		for in, err := range r.Args() {
			if err != nil {
				return err
			}
			data, err := io.ReadAll(in)
			if err != nil {
				return err
			}
			title, _ := in.Meta().Text("title")
			_, known := in.Sequence().Get()
			seen <- fmt.Sprint(in.ID(), " ", in.Media(), " ", known, " ", in.Unbounded(), " ", string(title), " ", string(data))
		}
		return nil
	})
	var b frame.MetaBuilder
	r := s.begin(testCap, func(f *frame.Frame) {
		f.ContentType = []byte("text/plain")
		b.Text("lang", "en")
		f.Meta, _ = b.Meta()
	})
	require.Equal(t, r.id.String()+" "+testCap+" text/plain en", <-seen)
	b.Reset()
	b.Text("title", "cat")
	f := frame.NewStreamStart(r.id, []byte("arg0"), []byte("media:image"))
	f.Meta, _ = b.Meta()
	f.Unbounded = frame.Some(true)
	r.sendAs(&f)
	r.chunk("arg0", bstr("me"))
	r.chunk("arg0", []byte("\x63ow!")) // a text
	r.endStream("arg0")
	require.Equal(t, "arg0 media:image false true cat meow!", <-seen)
	r.endBody()
	r.wantSuccess()
	require.NoError(t, s.finish())
}

// The requester may give up its body with an ERR.
func TestBodyThatIsGivenUp(t *testing.T) {
	s := served(t, 32, func(_ context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return err
		}
		if data, err := io.ReadAll(in); err == nil || string(data) != "half" {
			return fmt.Errorf("read %q, %v", data, err)
		}
		_, err = r.Next()
		return err
	})
	r := s.req(testCap)
	r.begin("arg0")
	r.chunk("arg0", bstr("half"))
	f, err := frame.NewErr(r.id, frame.ErrInfo{Code: []byte("DISK"), Attribution: frame.AttributionResource, Message: []byte("full")})
	require.NoError(t, err)
	r.sendAs(&f)
	i := r.wantErr("DISK", frame.AttributionResource)
	require.Equal(t, "full", string(i.Message))
	require.NoError(t, s.finish())
}

func TestBodyThatBreaksTheRules(t *testing.T) {
	for name, do := range map[string]func(r *flowing){
		"a checksum that is wrong": func(r *flowing) {
			r.begin("arg0")
			f := frame.NewChunk(r.id, []byte("arg0"), 0, bstr("x"), 1)
			r.sendAs(&f)
		},
		"an index that is wrong": func(r *flowing) {
			r.begin("arg0")
			f := frame.NewChunk(r.id, []byte("arg0"), 1, bstr("x"), flow.Checksum(bstr("x")))
			r.sendAs(&f)
		},
		"a count that is wrong": func(r *flowing) {
			r.begin("arg0")
			f := frame.NewStreamEnd(r.id, []byte("arg0"), frame.Some[uint64](3))
			r.sendAs(&f)
		},
		"a payload that is no CBOR":     func(r *flowing) { r.arg("arg0", []byte{0x58, 2, 1}) },
		"a stream that has not begun":   func(r *flowing) { r.chunk("arg0", bstr("x")) },
		"a stream that begins twice":    func(r *flowing) { r.begin("arg0"); r.begin("arg0") },
		"a chunk after the stream":      func(r *flowing) { r.arg("arg0", bstr("x")); r.chunk("arg0", bstr("x")) },
		"an end within a stream":        func(r *flowing) { r.begin("arg0"); r.endBody() },
		"an end within an item":         func(r *flowing) { r.begin("arg0", true); r.chunk("arg0", []byte{0x82, 1}); r.endStream("arg0") },
		"a stream without an id":        func(r *flowing) { f := frame.NewStreamStart(r.id, nil, nil); r.sendAs(&f) },
		"a stream after the body's end": func(r *flowing) { r.endBody(); r.begin("arg0") },
		"a body that ends twice":        func(r *flowing) { r.endBody(); r.endBody() },
	} {
		t.Run(name, func(t *testing.T) {
			s := served(t, 32, func(ctx context.Context, r *cartridge.Request) error {
				for in := range r.Args() {
					if in != nil {
						io.ReadAll(in)
					}
				}
				<-ctx.Done() // whatever the handler makes of it
				var e *cartridge.Error
				if !errors.As(context.Cause(ctx), &e) || e.Code != "PROTOCOL_ERROR" {
					t.Errorf("cause = %v", context.Cause(ctx))
				}
				return nil
			})
			r := s.req(testCap)
			do(r)
			for f := s.next(); ; f = s.next() {
				if f.Type == frame.TypeErr {
					i, err := f.ErrInfo()
					require.NoError(t, err)
					require.Equal(t, "PROTOCOL_ERROR internal", fmt.Sprintf("%s %v", i.Code, i.Attribution))
					break
				}
				require.Equal(t, frame.TypeCredit, f.Type)
			}
			require.NoError(t, s.finish())
		})
	}
}

// Law L4: nothing of a request follows its end, whoever still writes.
func TestNothingFollowsTheEnd(t *testing.T) {
	kept := make(chan *cartridge.Request, 1)
	s := served(t, 32, func(_ context.Context, r *cartridge.Request) error {
		kept <- r
		return nil
	})
	r := s.req(testCap)
	r.endBody()
	r.wantSuccess()
	late := <-kept
	out := late.Output("media:", nil)
	_, err := out.Write(make([]byte, 5000))
	require.ErrorIs(t, err, call.ErrEnded)
	require.ErrorIs(t, out.Close(), call.ErrEnded)
	late.Progress(1, "late")
	_, err = late.Next()
	require.ErrorIs(t, err, call.ErrEnded)
	_, err = late.Open(t.Context(), call.Request{Cap: testCap})
	require.ErrorIs(t, err, call.ErrEnded)
	s.silent()
	require.NoError(t, s.finish())
}

// Law L8: a LOG is an answer; one for a request that is served here is lost, and counted.
func TestLogForAHandler(t *testing.T) {
	s := served(t, 32, func(ctx context.Context, _ *cartridge.Request) error { <-ctx.Done(); return nil })
	r := s.req(testCap)
	f, err := frame.NewLog(r.id, frame.LogInfo{Level: []byte("info"), Message: []byte("x"), Attribution: frame.AttributionInput})
	require.NoError(t, err)
	r.sendAs(&f)
	require.Equal(t, uint64(1), s.silent().Drops.Or(99))
	r.cancel(frame.CancelReason{})
	r.want(frame.TypeErr)
	require.NoError(t, s.finish())
}

// Law L6: a frame for a request that has ended is late, one for an unknown request lost.
func TestFramesForNobody(t *testing.T) {
	s := served(t, 32, idle)
	r := s.req(testCap)
	r.wantSuccess()
	r.arg("arg0", bstr("late")) // three frames
	r.grant(nil, 1)
	r.cancel(frame.CancelReason{})
	h := s.silent()
	require.Equal(t, uint64(3), h.Stragglers.Or(99))
	require.Equal(t, uint64(0), h.Drops.Or(99))
	r = &flowing{script: s, id: frame.NewUUID(), xid: frame.Number(1), chunks: map[string]uint64{}}
	r.endBody()
	r.cancel(frame.CancelReason{})
	f := frame.NewCloseStream(r.id, nil)
	r.sendAs(&f)
	require.Equal(t, uint64(1), s.silent().Drops.Or(99))
	require.NoError(t, s.finish())
}

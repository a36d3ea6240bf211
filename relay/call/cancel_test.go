package call_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// The end of the context cancels the request. Only who says so is a user.
func TestContextCancelsTheRequest(t *testing.T) {
	failed := &call.Error{Code: "BAD", Attribution: frame.AttributionResource, Message: "step 1"}
	for name, test := range map[string]struct {
		cause   error
		code    string
		class   frame.Attribution
		message string
	}{
		"by a user":     {call.ErrCancelledByUser, "CANCELLED", frame.AttributionUser, "Cancelled by user"},
		"no cause":      {nil, "ABORTED", frame.AttributionInternal, "context canceled"},
		"another":       {errDisk, "ABORTED", frame.AttributionInternal, "disk on fire"},
		"a failure":     {fmt.Errorf("in: %w", failed), "ABORTED_COLLATERAL", frame.AttributionResource, "step 1"},
		"as it is":      {&call.Cancelled{Code: "X", Message: "y"}, "X", frame.NoAttribution, "y"},
		"for no reason": {&call.Cancelled{}, "", frame.NoAttribution, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newFake(t)
				l.limits.InitialCredit, l.limits.MaxChunk = 1, 1
				ctx, cancel := context.WithCancelCause(t.Context())
				c := l.start(ctx, call.Bytes("", []byte("xx"))) // waits for credit
				synctest.Wait()
				l.want(frame.TypeStreamStart)
				l.want(frame.TypeChunk)
				cancel(test.cause)
				synctest.Wait()
				require.Equal(t, test.message, l.wantCancel(test.code, test.class))
				l.silent()
				l.err(frame.ErrInfo{Code: []byte("CANCELLED"), Attribution: frame.AttributionUser, Message: []byte("x")})
				_, err := c.Next(t.Context())
				require.ErrorIs(t, err, &call.Error{Code: "CANCELLED"})
				l.grant(nil, 1, frame.RequestDirection)
				synctest.Wait()
				l.silent() // nobody sends any more
			})
		})
	}
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFake(t)
		l.limits.InitialCredit, l.limits.MaxChunk = 1, 1
		c := l.start(t.Context(), call.Bytes("", []byte("xx")))
		synctest.Wait()
		l.want(frame.TypeStreamStart)
		l.want(frame.TypeChunk)
		require.NoError(t, c.Cancel(true, call.ErrCancelledByUser))
		f := l.want(frame.TypeCancel)
		require.True(t, f.ForceKill.Or(false))
		l.grant(nil, 1, frame.RequestDirection)
		synctest.Wait()
		l.silent() // no more of the arguments
		require.NoError(t, c.Cancel(false, nil))
		l.wantCancel("", frame.NoAttribution)
		l.log(frame.LogInfo{Level: []byte("info"), Message: []byte("leaving"), Attribution: frame.AttributionInternal})
		l.err(call.ErrCancelledByUser.Terminal().Info())
		got, err := events(t, c)
		require.Equal(t, []string{"log info leaving internal "}, got)
		require.ErrorIs(t, err, &call.Error{Code: "CANCELLED", Attribution: frame.AttributionUser})
		c.Cancel(false, nil) // of what has ended
		l.silent()
	})
}

// Close while Next waits, and while the context has ended.
func TestCloseWhileNextWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFake(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		c := l.start(ctx)
		l.want(frame.TypeEnd)
		got := make(chan error, 1)
		go func() { _, err := c.Next(t.Context()); got <- err }()
		synctest.Wait()
		cancel(call.ErrCancelledByUser)
		require.NoError(t, c.Close())
		require.Error(t, <-got)
		l.wantCancel("CANCELLED", frame.AttributionUser) // the reason is told, whoever is first
		l.silent()
		_, err := c.Next(t.Context())
		require.Error(t, err)
	})
}

// Close waits for who is about to send.
func TestCloseWaitsForTheSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowLink{fake: newFake(t), release: make(chan struct{})}
		c, err := call.Start(t.Context(), l, call.Request{}, call.Arg{Items: seqOf("\x01")})
		require.NoError(t, err)
		closed := false
		go func() { c.Close(); closed = true }()
		synctest.Wait()
		require.False(t, closed)
		close(l.release)
		synctest.Wait()
		require.True(t, closed)
	})
}

// A slowLink takes its time to send.
type slowLink struct {
	*fake
	release chan struct{}
}

func (l *slowLink) Open(ctx context.Context, r call.Request) (call.Link, error) {
	_, err := l.fake.Open(ctx, r)
	return l, err
}

func (l *slowLink) Send(context.Context, *frame.Frame) error {
	<-l.release
	return call.ErrEnded
}

func TestCloseStream(t *testing.T) {
	l := newFake(t)
	c := l.start(t.Context())
	l.want(frame.TypeEnd)
	require.NoError(t, c.CloseStream(t.Context(), "arg0"))
	require.Equal(t, "arg0", string(l.want(frame.TypeCloseStream).StreamID))
	require.NoError(t, c.CloseStream(t.Context(), ""))
	require.Nil(t, l.want(frame.TypeCloseStream).StreamID)
	l.succeed()
	require.ErrorIs(t, c.CloseStream(t.Context(), ""), call.ErrEnded)
}

func TestCollect(t *testing.T) {
	l := newFake(t)
	c := l.start(t.Context())
	var b frame.MetaBuilder
	b.Uint("seq", 7)
	meta, _ := b.Meta()
	l.begin("a")
	l.begin("b", sequence)
	l.chunk("a", bstr("x"))
	l.chunk("b", []byte{1}, func(f *frame.Frame) { f.Meta = meta })
	l.chunk("a", bstr("y"))
	l.chunk("a", []byte{7})
	l.endStream("a")
	l.chunk("b", []byte{2})
	l.endStream("b")
	l.succeed()
	outputs, err := c.Collect(t.Context())
	require.NoError(t, err)
	require.Len(t, outputs, 2)
	require.Equal(t, "a media:y xy", outputs[0].ID+" "+outputs[0].Media+" "+string(outputs[0].Data))
	require.Equal(t, []byte{7}, outputs[0].Items[0].CBOR)
	require.True(t, outputs[1].Sequence.Or(false))
	require.Equal(t, []byte{2}, outputs[1].Items[1].CBOR)
	n, _ := outputs[1].Items[0].Meta.Uint("seq")
	require.Equal(t, uint64(7), n)
}

// Law L16: what may have no end is not collected, and neither is what is too long.
func TestCollectRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		do func(l *fake)
		is error
	}{
		"an unbounded stream": {func(l *fake) { l.begin("a", unbounded) }, flow.ErrUnbounded},
		"too many bytes": {func(l *fake) {
			l.begin("a")
			for range 20 {
				l.chunk("a", bstr("0123456789"))
			}
		}, flow.ErrTooLong},
		"too many items": {func(l *fake) {
			l.begin("a", sequence)
			for range 2 {
				l.chunk("a", []byte{1})
			}
		}, flow.ErrTooLong},
		"too many streams": {func(l *fake) {
			for i := range 3 {
				l.begin(fmt.Sprint(i))
			}
		}, flow.ErrTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			l := newFake(t)
			c := l.start(t.Context())
			l.want(frame.TypeEnd)
			test.do(l)
			_, err := c.CollectMax(t.Context(), 300)
			require.ErrorIs(t, err, test.is)
			f := l.next()
			for f.Type == frame.TypeCredit {
				f = l.next()
			}
			require.Equal(t, frame.TypeCancel, f.Type)
			_, again := c.Next(t.Context())
			require.Equal(t, err, again)
		})
	}
}

func TestDo(t *testing.T) {
	for name, test := range map[string]struct {
		reply func(l *fake)
		want  string
		fails bool
	}{
		"bytes": {func(l *fake) {
			l.begin("a")
			l.chunk("a", bstr("x"))
			l.chunk("a", bstr("y"))
			l.endStream("a")
			l.succeed()
		}, "xy", false},
		"items": {func(l *fake) {
			l.begin("a", sequence)
			l.chunk("a", []byte{1})
			l.chunk("a", []byte{2})
			l.endStream("a")
			l.succeed()
		}, "\x01\x02", false},
		"nothing":  {func(l *fake) { l.succeed() }, "", false},
		"two":      {func(l *fake) { l.begin("a"); l.endStream("a"); l.begin("b"); l.endStream("b"); l.succeed() }, "", true},
		"an error": {func(l *fake) { l.err((&call.Error{Code: "BAD"}).Info()) }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newFake(t)
			go func() {
				for l.next().Type != frame.TypeEnd {
				}
				test.reply(l)
			}()
			got, err := call.Do(t.Context(), l, "cap:x", call.Bytes("", []byte("in")))
			require.Equal(t, test.fails, err != nil, "%v", err)
			require.Equal(t, test.want, string(got))
			require.Equal(t, 1, l.closed)
		})
	}
}

func TestErrors(t *testing.T) {
	e := &call.Error{Code: "BAD", Attribution: frame.AttributionInput, Message: "no", ArgURN: "media:x"}
	for _, is := range []*call.Error{
		{Code: "BAD"}, {Code: "BAD", Attribution: frame.AttributionInput}, {Code: "BAD", Message: "no", ArgURN: "media:x"},
	} {
		require.ErrorIs(t, e, is)
	}
	for _, not := range []error{
		&call.Error{Code: "GOOD"}, &call.Error{Code: "BAD", Attribution: frame.AttributionUser},
		&call.Error{Code: "BAD", Message: "yes"}, &call.Error{Code: "BAD", ArgURN: "media:y"}, io.EOF,
	} {
		require.False(t, errors.Is(e, not), "%v", not)
	}
	for _, odd := range []call.Error{{}, {Code: " ", Message: "\t", ArgURN: " "}, {Code: "\xff", Message: "\xff", ArgURN: "\xff"}} {
		f, err := frame.NewErr(frame.NewUUID(), odd.Info())
		require.NoError(t, err)
		_, err = f.ErrInfo()
		require.NoError(t, err)
	}
	for _, c := range []call.Cancelled{{}, *call.ErrCancelledByUser, {Code: "\xff", Message: "\xff"}, {Code: "OTHER"}} {
		f, err := frame.NewCancel(frame.NewUUID(), false, c.Reason())
		require.NoError(t, err)
		f2, err := frame.NewErr(frame.NewUUID(), c.Terminal().Info())
		require.NoError(t, err)
		_, err = f2.ErrInfo()
		require.NoError(t, err)
		if c.Code != "\xff" {
			require.ErrorIs(t, call.CancelledFrom(f.CancelReason()), &c)
		}
	}
	require.Equal(t, "the request was cancelled: OTHER", (&call.Cancelled{Code: "OTHER"}).Error())
	require.Equal(t, "CANCELLED internal", (&call.Cancelled{}).Terminal().Code+" "+(&call.Cancelled{}).Terminal().Attribution.String())
}

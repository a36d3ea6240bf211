package call_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// body returns the frames of a body, in words.
func (l *fake) body() (got []string) {
	l.t.Helper()
	for {
		f := l.next()
		line := fmt.Sprintf("%v %s", f.Type, f.StreamID)
		switch f.Type {
		case frame.TypeStreamStart:
			line += fmt.Sprintf(" %s seq=%v unb=%v", f.MediaURN, f.IsSequence, f.Unbounded)
		case frame.TypeChunk:
			require.Equal(l.t, flow.Checksum(f.Payload), f.Checksum.Or(0))
			line += fmt.Sprintf(" %d %x", f.ChunkIndex.Or(99), f.Payload)
		case frame.TypeStreamEnd:
			line += fmt.Sprintf(" %v", f.ChunkCount)
		}
		got = append(got, line)
		if f.Type.Terminal() {
			require.False(l.t, f.EndInfo().ExitCode.IsSet())
			return got
		}
	}
}

func seqOf(items ...string) func(func(call.Item, error) bool) {
	return func(yield func(call.Item, error) bool) {
		for _, item := range items {
			if !yield(call.Item{CBOR: []byte(item)}, nil) {
				return
			}
		}
	}
}

func TestArgumentsOnTheWire(t *testing.T) {
	no, yes := frame.Optional[bool]{}, frame.Some(true)
	start := func(id, media string, seq, unb frame.Optional[bool]) string {
		return fmt.Sprintf("stream_start %s %s seq=%v unb=%v", id, media, seq, unb)
	}
	end := func(id string, n uint64) string { return fmt.Sprintf("stream_end %s %v", id, frame.Some(n)) }
	for name, test := range map[string]struct {
		args []call.Arg
		want []string
	}{
		"none": {nil, []string{"end "}},
		"bytes": {
			[]call.Arg{call.Bytes("media:x", []byte("abcdefgh"))},
			[]string{start("arg0", "media:x", no, no), "chunk arg0 0 45" + "6162636465", "chunk arg0 1 43666768", end("arg0", 2), "end "},
		},
		"an empty one": {
			[]call.Arg{{}, call.Bytes("", nil)},
			[]string{
				start("arg0", "media:", no, no), "chunk arg0 0 40", end("arg0", 1),
				start("arg1", "media:", no, no), "chunk arg1 0 40", end("arg1", 1), "end ",
			},
		},
		"a reader": {
			[]call.Arg{{Body: iotest.DataErrReader(strings.NewReader("abc"))}},
			[]string{start("arg0", "media:", no, no), "chunk arg0 0 43616263", end("arg0", 1), "end "},
		},
		"a reader of nothing": {
			[]call.Arg{{Body: iotest.OneByteReader(strings.NewReader(""))}},
			[]string{start("arg0", "media:", no, no), "chunk arg0 0 40", end("arg0", 1), "end "},
		},
		"items": {
			[]call.Arg{{Items: seqOf("\x01", "\x86\x01\x02\x03\x04\x05\x06")}},
			[]string{
				start("arg0", "media:", yes, no), "chunk arg0 0 01", "chunk arg0 1 8601020304", "chunk arg0 2 0506",
				end("arg0", 3), "end ",
			},
		},
		"no items": {
			[]call.Arg{{Items: seqOf()}},
			[]string{start("arg0", "media:", yes, no), end("arg0", 0), "end "},
		},
		"an unbounded one": {
			[]call.Arg{{Body: strings.NewReader("abc"), Unbounded: true}},
			[]string{
				start("arg0", "media:", no, yes), "chunk arg0 0 43616263",
				fmt.Sprintf("stream_end arg0 %v", frame.Optional[uint64]{}), "end ",
			},
		},
		"an unbounded one of nothing": {
			[]call.Arg{{Body: strings.NewReader(""), Unbounded: true}},
			[]string{start("arg0", "media:", no, yes), fmt.Sprintf("stream_end arg0 %v", frame.Optional[uint64]{}), "end "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			l := newFake(t)
			l.limits.MaxChunk = 5
			l.start(t.Context(), test.args...)
			require.Equal(t, test.want, l.body())
		})
	}
}

func TestManyArguments(t *testing.T) {
	l := newFake(t)
	args := make([]call.Arg, 12)
	l.start(t.Context(), args...)
	got := l.body()
	require.Len(t, got, 3*12+1)
	require.Contains(t, got[3*11], "stream_start arg11 ")
}

func TestArgumentMeta(t *testing.T) {
	l := newFake(t)
	var b frame.MetaBuilder
	b.Text("title", "cat")
	meta, err := b.Meta()
	require.NoError(t, err)
	l.start(t.Context(), call.Arg{Meta: meta, Items: func(yield func(call.Item, error) bool) {
		yield(call.Item{CBOR: []byte{1}, Meta: meta}, nil)
	}})
	for _, typ := range []frame.Type{frame.TypeStreamStart, frame.TypeChunk} {
		title, _ := l.want(typ).Meta.Text("title")
		require.Equal(t, "cat", string(title))
	}
}

func TestRequestReachesTheOpener(t *testing.T) {
	l := newFake(t)
	c, err := call.Start(t.Context(), l, call.Request{Cap: "cap:x", Preferred: "cap:y", Cartridge: "z", ID: frame.Number(7)})
	require.NoError(t, err)
	defer c.Close()
	require.Equal(t, frame.Number(7), c.ID())
	require.Equal(t, "cap:x cap:y z", l.request.Cap+" "+l.request.Preferred+" "+l.request.Cartridge)
}

func TestStartThatFails(t *testing.T) {
	l := newFake(t)
	_, err := call.Start(t.Context(), l, call.Request{}, call.Arg{Body: strings.NewReader(""), Items: seqOf()})
	require.Error(t, err, "an argument that is both")
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	_, err = call.Start(ctx, l, call.Request{})
	require.Equal(t, gone, err)
	_, err = call.Do(ctx, l, "cap:x")
	require.Equal(t, gone, err)
}

// Laws L9, L14: a body starts with the credit of the link, waits at 0, and goes on with each grant.
func TestBodyWaitsForCredit(t *testing.T) {
	relaytest.NoLeaks(t)
	l := newFake(t)
	l.limits.MaxChunk, l.limits.InitialCredit = 1, 2
	l.start(t.Context(), call.Bytes("", []byte("abcdef")))
	l.want(frame.TypeStreamStart)
	wantChunk := func(s string) {
		t.Helper()
		require.Equal(t, bstr(s), l.want(frame.TypeChunk).Payload)
	}
	wantChunk("a")
	wantChunk("b")
	l.grant([]byte("arg0"), 5, frame.ResponseDirection) // the wrong direction
	l.grant([]byte("arg1"), 5, frame.RequestDirection)  // the wrong stream
	l.grant([]byte("arg0"), 5, frame.NoDirection)
	l.silent()
	l.grant([]byte("arg0"), 1, frame.RequestDirection)
	wantChunk("c")
	l.silent()
	l.grant(nil, ^uint64(0), frame.RequestDirection) // the only stream
	l.grant(nil, ^uint64(0), frame.RequestDirection) // and no more than 2^64-1
	wantChunk("d")
	wantChunk("e")
	wantChunk("f")
	l.want(frame.TypeStreamEnd)
	l.want(frame.TypeEnd)
	l.grant([]byte("arg0"), 1, frame.RequestDirection) // too late is nothing wrong
}

// A grant that names no stream is for the one that is being sent.
func TestGrantForTheOnlyStream(t *testing.T) {
	l := newFake(t)
	l.limits.MaxChunk, l.limits.InitialCredit = 1, 1
	l.start(t.Context(), call.Bytes("", []byte("a")), call.Bytes("", []byte("bc")))
	for _, typ := range []frame.Type{
		frame.TypeStreamStart, frame.TypeChunk, frame.TypeStreamEnd, frame.TypeStreamStart, frame.TypeChunk,
	} {
		l.want(typ)
	}
	l.grant(nil, 1, frame.RequestDirection)
	require.Equal(t, bstr("c"), l.want(frame.TypeChunk).Payload)
	l.want(frame.TypeStreamEnd)
	l.want(frame.TypeEnd)
}

// Law L16: a feed without an end does not keep what comes behind it.
func TestFeedsAreSentBesideTheRest(t *testing.T) {
	relaytest.NoLeaks(t)
	l := newFake(t)
	one, w1 := io.Pipe()
	two, w2 := io.Pipe()
	l.start(t.Context(),
		call.Arg{Body: one, Unbounded: true}, call.Bytes("", []byte("x")), call.Arg{Body: two, Unbounded: true})
	var starts, ends int
	for starts < 3 || ends < 1 {
		switch f := l.next(); f.Type {
		case frame.TypeStreamStart:
			require.Equal(t, fmt.Sprint("arg", starts), string(f.StreamID))
			starts++
		case frame.TypeStreamEnd:
			require.Equal(t, "arg1", string(f.StreamID))
			ends++
		}
	}
	for i, w := range []*io.PipeWriter{w2, w1} {
		_, err := w.Write([]byte("live"))
		require.NoError(t, err)
		f := l.want(frame.TypeChunk)
		require.Equal(t, fmt.Sprint("arg", 2-2*i), string(f.StreamID))
		require.Equal(t, bstr("live"), f.Payload)
	}
	w1.Close()
	require.Equal(t, "arg0", string(l.want(frame.TypeStreamEnd).StreamID))
	l.silent() // no END while a feed runs
	w2.Close()
	require.Equal(t, "arg2", string(l.want(frame.TypeStreamEnd).StreamID))
	l.want(frame.TypeEnd)
}

var errDisk = errors.New("disk on fire")

// A caller whose argument fails gets its own error, and the request is cancelled.
func TestArgumentThatFails(t *testing.T) {
	own := &call.Error{Code: "BAD", Attribution: frame.AttributionInput, Message: "no good"}
	for name, test := range map[string]struct {
		arg   call.Arg
		is    error
		code  string
		class frame.Attribution
	}{
		"reading": {
			call.Arg{Body: io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errDisk))},
			errDisk, "ABORTED", frame.AttributionInternal,
		},
		"reading by WriteTo": {
			call.Arg{Body: writerTo(func(w io.Writer) error { w.Write([]byte("half")); return errDisk })},
			errDisk, "ABORTED", frame.AttributionInternal,
		},
		"an item": {
			call.Arg{Items: func(yield func(call.Item, error) bool) {
				if yield(call.Item{CBOR: []byte{1}}, nil) {
					yield(call.Item{}, errDisk)
				}
			}}, errDisk, "ABORTED", frame.AttributionInternal,
		},
		"what another request failed with": {
			call.Arg{Body: iotest.ErrReader(fmt.Errorf("step 1: %w", own))},
			own, "ABORTED_COLLATERAL", frame.AttributionInput,
		},
		"a cancel": {
			call.Arg{Body: iotest.ErrReader(call.ErrCancelledByUser)},
			call.ErrCancelledByUser, "CANCELLED", frame.AttributionUser,
		},
	} {
		t.Run(name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			l := newFake(t)
			c := l.start(t.Context(), test.arg)
			f := l.next()
			for f.Type != frame.TypeCancel {
				require.NotEqual(t, frame.TypeEnd, f.Type)
				f = l.next()
			}
			require.Equal(t, test.code, string(f.CancelReason().Code))
			require.Equal(t, test.class, f.CancelReason().Attribution)
			l.err(frame.ErrInfo{Code: []byte("ABORTED"), Attribution: frame.AttributionInternal, Message: []byte("aborted")})
			_, err := c.Next(t.Context())
			require.ErrorIs(t, err, test.is)
			_, again := c.Next(t.Context())
			require.Equal(t, err, again)
		})
	}
}

type writerTo func(io.Writer) error

func (f writerTo) Read([]byte) (int, error)                 { panic("WriteTo is there") }
func (f writerTo) WriteTo(w io.Writer) (n int64, err error) { return 0, f(w) }

// A frame that cannot be sent is the request's end too.
func TestFrameThatCannotBeSent(t *testing.T) {
	l := newFake(t)
	l.failure = frame.Errorf(frame.ErrFrameTooLarge, "too large")
	c := l.start(t.Context(), call.Bytes("", []byte("x")))
	l.wantCancel("ABORTED", frame.AttributionInternal)
	_, err := c.Next(t.Context())
	require.ErrorIs(t, err, frame.ErrFrameTooLarge)
}

// Law L13: the end of the response ends the body: whoever waits for credit is woken.
func TestEndOfResponseEndsTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFake(t)
		ended := false
		c := l.start(t.Context(), call.Arg{Items: func(yield func(call.Item, error) bool) {
			for yield(call.Item{CBOR: []byte{1}}, nil) {
			}
			ended = true
		}})
		synctest.Wait()
		l.want(frame.TypeStreamStart)
		for range 32 {
			l.want(frame.TypeChunk)
		}
		require.False(t, ended)
		l.succeed()
		_, err := c.Next(t.Context())
		require.Equal(t, io.EOF, err)
		synctest.Wait()
		require.True(t, ended)
		l.silent()
	})
}

// A Read that waits does not keep Close; what it reads is dropped.
func TestCloseWithAReadThatWaits(t *testing.T) {
	relaytest.NoLeaks(t)
	l := newFake(t)
	r, w := io.Pipe()
	reading := make(chan struct{})
	c := l.start(t.Context(), call.Arg{Body: io.MultiReader(writerOnce{reading}, r)})
	<-reading
	require.NoError(t, c.Close())
	require.Equal(t, 1, l.closed)
	require.NoError(t, c.Close())
	require.Equal(t, 1, l.closed)
	w.Write([]byte("late"))
	w.Close()
	for len(l.sent) > 0 {
		require.NotEqual(t, frame.TypeChunk, (<-l.sent).Type)
	}
}

// writerOnce is empty, and says when it was read.
type writerOnce struct{ read chan struct{} }

func (o writerOnce) Read([]byte) (int, error) { close(o.read); return 0, io.EOF }

// The links that can hold frames back get a short request in one piece.
func TestShortRequestIsBatched(t *testing.T) {
	l := &batcher{fake: newFake(t)}
	c, err := call.Start(t.Context(), l, call.Request{Cap: "cap:x"}, call.Bytes("", []byte("x")), call.Arg{})
	require.NoError(t, err)
	defer c.Close()
	require.True(t, l.request.Batch)
	require.Equal(t, []string{
		"queue stream_start", "queue chunk", "queue stream_end",
		"queue stream_start", "queue chunk", "queue stream_end", "send end",
	}, l.log)
}

// A body that may wait does not hold back what was queued.
func TestBatchIsFlushedBeforeAWait(t *testing.T) {
	l := &batcher{fake: newFake(t)}
	r, w := io.Pipe()
	c, err := call.Start(t.Context(), l, call.Request{Cap: "cap:x"}, call.Arg{Body: r})
	require.NoError(t, err)
	defer c.Close()
	l.want(frame.TypeStreamStart)
	_, err = w.Write([]byte("x"))
	require.NoError(t, err)
	l.want(frame.TypeChunk)
	w.Close()
	l.want(frame.TypeStreamEnd)
	l.want(frame.TypeEnd)
	l.mu.Lock()
	defer l.mu.Unlock()
	require.Equal(t, []string{"queue stream_start", "flush", "queue chunk", "flush", "queue stream_end", "send end"}, l.log)
}

type batcher struct {
	*fake
	log  []string
	held []*frame.Frame
}

func (b *batcher) Open(ctx context.Context, r call.Request) (call.Link, error) {
	_, err := b.fake.Open(ctx, r)
	return b, err
}

func (b *batcher) note(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log = append(b.log, s)
}

func (b *batcher) Send(ctx context.Context, f *frame.Frame) error {
	b.note("send " + f.Type.String())
	b.release()
	return b.fake.Send(ctx, f)
}

func (b *batcher) Queue(ctx context.Context, f *frame.Frame) error {
	b.note("queue " + f.Type.String())
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = append(b.held, f.Clone())
	return nil
}

func (b *batcher) Flush() {
	b.note("flush")
	b.release()
}

func (b *batcher) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.held {
		b.sent <- f
	}
	b.held = nil
}

// A feed that ends does not leave its end behind while others wait.
func TestEndOfAFeedIsFlushed(t *testing.T) {
	l := &batcher{fake: newFake(t)}
	one, w1 := io.Pipe()
	two, w2 := io.Pipe()
	c, err := call.Start(t.Context(), l, call.Request{}, call.Arg{Body: one, Unbounded: true}, call.Arg{Body: two, Unbounded: true})
	require.NoError(t, err)
	defer c.Close()
	defer w2.Close()
	l.want(frame.TypeStreamStart)
	l.want(frame.TypeStreamStart)
	w1.Close()
	require.Equal(t, "arg0", string(l.want(frame.TypeStreamEnd).StreamID))
}

package call_test

import (
	"bytes"
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
	"github.com/cosim-go/cosim/relay/relaytest"
)

// events reads to the end and returns what came, in words.
func events(t *testing.T, c *call.Call) (got []string, end error) {
	t.Helper()
	for {
		e, err := c.Next(t.Context())
		if err != nil {
			return got, err
		}
		switch e.Kind {
		case call.EventStart:
			got = append(got, fmt.Sprintf("start %s %s %v", e.Stream.ID, e.Stream.Media, e.Stream.Unbounded))
		case call.EventData:
			got = append(got, fmt.Sprintf("data %s %s", e.Stream.ID, e.Data))
		case call.EventItem:
			got = append(got, fmt.Sprintf("item %s %x", e.Stream.ID, e.Item.CBOR))
		case call.EventEnd:
			got = append(got, "end "+e.Stream.ID)
		case call.EventLog:
			got = append(got, fmt.Sprintf("log %s %s %v %s", e.Log.Level, e.Log.Message, e.Log.Attribution, e.Log.ArgURN))
		case call.EventProgress:
			got = append(got, fmt.Sprintf("progress %v %s", e.Progress, e.Log.Message))
		default:
			t.Errorf("an event of kind %d", e.Kind)
		}
	}
}

func (l *fake) log(i frame.LogInfo) {
	l.t.Helper()
	f, err := frame.NewLog(l.ID(), i)
	require.NoError(l.t, err)
	l.reply(&f)
}

func TestEvents(t *testing.T) {
	relaytest.NoLeaks(t)
	l := newFake(t)
	c := l.start(t.Context())
	l.want(frame.TypeEnd)
	l.log(frame.LogInfo{Level: []byte("queued"), Message: []byte("wait"), Attribution: frame.AttributionResource, ArgURN: []byte("media:x")})
	l.begin("a")
	l.chunk("a", bstr("bytes"))
	l.begin("b", sequence, unbounded)
	l.chunk("b", []byte{0x82, 1})
	l.chunk("a", []byte("\x64text"))
	l.chunk("a", []byte("\x5f\x41x\x42yz\xff"))
	l.chunk("a", []byte("\x7f\x61x\x62yz\xff"))
	l.chunk("a", []byte{0x18, 42}) // a scalar's value that is a number
	l.log(frame.LogInfo{Level: []byte("progress"), Message: []byte("half"), Progress: frame.Some(0.5)})
	l.chunk("b", []byte{2})
	l.chunk("b", []byte{3})
	l.endStream("b")
	l.endStream("a")
	l.end(frame.EndInfo{ExitCode: frame.Some[int64](0), Progress: frame.Some(1.0), Message: []byte("fine")})
	got, err := events(t, c)
	require.Equal(t, io.EOF, err)
	require.Equal(t, []string{
		"log queued wait resource media:x", "start a media:y false", "data a bytes", "start b media:y true",
		"data a text", "data a xyz", "data a xyz", "item a 182a", "progress 0.5 half", "item b 820102", "item b 03",
		"end b", "end a",
	}, got)
	require.Equal(t, "fine", string(c.End().Message))
	require.Equal(t, 1.0, c.End().Progress.Or(0))
	_, err = c.Next(t.Context())
	require.Equal(t, io.EOF, err)
}

// A payload that was cut as it is comes together as it was.
func TestRawPayload(t *testing.T) {
	l := newFake(t)
	c := l.start(t.Context())
	l.want(frame.TypeEnd)
	l.begin("a")
	start := frame.NewStreamStart(l.ID(), []byte("a"), nil)
	for f := range flow.NewChunker(&start, 4).Payload([]byte("\x41raw bytes"), []byte("text/plain")) {
		l.chunks["a"]++
		l.reply(f)
	}
	l.endStream("a")
	l.succeed()
	outputs, err := c.Collect(t.Context())
	require.NoError(t, err)
	require.Equal(t, "\x41raw bytes", string(outputs[0].Data))
}

// The ends of a request: success is an exit code of 0, and nothing else.
func TestEnds(t *testing.T) {
	info := func(exit int64) frame.EndInfo {
		return frame.EndInfo{ExitCode: frame.Some(exit), Message: []byte("as it is")}
	}
	for name, test := range map[string]struct {
		do   func(l *fake)
		want string
	}{
		"exit code 0":   {func(l *fake) { l.end(info(0)) }, "EOF"},
		"exit code 3":   {func(l *fake) { l.end(info(3)) }, "HANDLER_ERROR (internal): the handler ended with exit code 3: as it is"},
		"no exit code":  {func(l *fake) { l.end(frame.EndInfo{}) }, "PROTOCOL_ERROR (internal): the response ended without an exit code"},
		"within stream": {func(l *fake) { l.begin("a"); l.succeed() }, "PROTOCOL_ERROR (internal): the response ended with 1 streams open"},
		"an ERR": {
			func(l *fake) {
				l.err(frame.ErrInfo{Code: []byte("BAD"), Attribution: frame.AttributionInput, Message: []byte("no"), ArgURN: []byte("media:x")})
			}, "BAD (input): no [media:x]",
		},
		"an ERR without a class": {
			func(l *fake) {
				f := frame.Frame{Type: frame.TypeErr}
				var b frame.MetaBuilder
				b.Text("code", "BAD")
				b.Text("message", "no")
				f.Meta, _ = b.Meta()
				l.reply(&f)
			}, "PROTOCOL_ERROR",
		},
		"the link's": {func(l *fake) { l.box.Close(errDisk) }, "reading the response: disk on fire"},
		"none":       {func(l *fake) { l.box.Close(io.EOF) }, "reading the response: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newFake(t)
			c := l.start(t.Context())
			l.want(frame.TypeEnd)
			test.do(l)
			_, err := events(t, c)
			require.Contains(t, err.Error(), test.want)
			if name != "an ERR without a class" {
				require.Equal(t, test.want, err.Error())
			}
			_, again := c.Next(t.Context())
			require.Equal(t, err, again)
			l.silent() // it has ended, there is nothing to cancel
		})
	}
}

// A response that breaks the rules is cancelled, and its error is for good.
func TestResponsesThatBreakTheRules(t *testing.T) {
	for name, do := range map[string]func(l *fake){
		"a wrong checksum": func(l *fake) {
			l.begin("a")
			l.chunk("a", bstr("x"), func(f *frame.Frame) { f.Checksum = frame.Some[uint64](1) })
		},
		"a wrong index": func(l *fake) {
			l.begin("a")
			l.chunk("a", bstr("x"), func(f *frame.Frame) { f.ChunkIndex = frame.Some[uint64](1) })
		},
		"no CBOR":                  func(l *fake) { l.begin("a"); l.chunk("a", []byte{0x42, 1}) },
		"a text that is no UTF-8":  func(l *fake) { l.begin("a"); l.chunk("a", []byte{0x61, 0xff}) },
		"parts of two items":       func(l *fake) { l.begin("a", sequence); l.chunk("a", []byte{1, 2}) },
		"half an item":             func(l *fake) { l.begin("a", sequence); l.chunk("a", []byte{0x82, 1}); l.endStream("a") },
		"a wrong count":            func(l *fake) { l.begin("a"); l.chunks["a"]++; l.endStream("a") },
		"a chunk before the start": func(l *fake) { l.chunk("a", bstr("x")) },
		"a chunk after the end":    func(l *fake) { l.begin("a"); l.endStream("a"); l.chunk("a", bstr("x")) },
		"an end without a start":   func(l *fake) { l.endStream("a") },
		"a start twice":            func(l *fake) { l.begin("a"); l.begin("a") },
		"a start without an id":    func(l *fake) { l.begin("", func(f *frame.Frame) { f.StreamID = nil }) },
		"a LOG without a class": func(l *fake) {
			f := frame.Frame{Type: frame.TypeLog}
			var b frame.MetaBuilder
			b.Text("level", "info")
			b.Text("message", "no")
			f.Meta, _ = b.Meta()
			l.reply(&f)
		},
		"a frame that is no answer": func(l *fake) { f := frame.NewReq(l.ID(), []byte("cap:x")); l.reply(&f) },
		"too many streams": func(l *fake) {
			for i := range 1025 {
				l.begin(fmt.Sprint(i))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			l := newFake(t)
			c := l.start(t.Context())
			l.want(frame.TypeEnd)
			do(l)
			_, err := events(t, c)
			require.ErrorIs(t, err, &call.Error{Code: "PROTOCOL_ERROR", Attribution: frame.AttributionInternal})
			f := l.next()
			for f.Type == frame.TypeCredit {
				f = l.next()
			}
			require.Equal(t, frame.TypeCancel, f.Type)
			require.Equal(t, "PROTOCOL_ERROR internal", string(f.CancelReason().Code)+" "+f.CancelReason().Attribution.String())
			l.succeed()
			_, again := c.Next(t.Context())
			require.Equal(t, err, again)
			require.Empty(t, l.drops)
		})
	}
}

// Law L12: a CHUNK beyond the credit is seen when it arrives, however slow the reader is.
func TestChunkBeyondTheCredit(t *testing.T) {
	for name, startFirst := range map[string]bool{
		"before the start is read": false,
		"after the start is read":  true,
	} {
		t.Run(name, func(t *testing.T) {
			relaytest.NoLeaks(t)
			l := newFake(t)
			c := l.start(t.Context())
			l.want(frame.TypeEnd)
			l.begin("a", sequence)
			if startFirst {
				_, err := c.Next(t.Context())
				require.NoError(t, err)
			}
			for range 33 {
				l.chunk("a", []byte{1})
			}
			_, err := c.Next(t.Context())
			if err == nil { // the start, which has to be read before the credit is known
				_, err = c.Next(t.Context())
			}
			require.ErrorIs(t, err, &call.Error{Code: "CREDIT_VIOLATION", Attribution: frame.AttributionInternal})
			f := l.next()
			for f.Type == frame.TypeCredit {
				f = l.next()
			}
			require.Equal(t, "CREDIT_VIOLATION internal", string(f.CancelReason().Code)+" "+f.CancelReason().Attribution.String())
			require.Equal(t, []string{"credit_violation chunk"}, l.drops)
			require.NoError(t, c.Close())
		})
	}
}

// Streams that never begin cannot fill the memory either.
func TestChunksOfManyStreams(t *testing.T) {
	l := newFake(t)
	c := l.start(t.Context())
	l.want(frame.TypeEnd)
	for i := range 1100 {
		f := frame.NewChunk(l.ID(), []byte(fmt.Sprint(i)), 0, nil, 0)
		l.request.OnChunk(&f)
	}
	l.wantCancel("CREDIT_VIOLATION", frame.AttributionInternal)
	_, err := c.Next(t.Context())
	require.ErrorIs(t, err, &call.Error{Code: "CREDIT_VIOLATION"})
}

// credits adds up the grants that were sent.
func (l *fake) credits() (sum uint64) {
	l.t.Helper()
	for {
		select {
		case f := <-l.sent:
			require.Equal(l.t, frame.TypeCredit.String(), f.Type.String())
			require.Equal(l.t, frame.ResponseDirection, f.CreditDirection())
			sum += f.Credit.Or(0)
		default:
			return sum
		}
	}
}

// Law L10: an event is consumed with the next call; grants come in batches, and before a wait.
func TestGrants(t *testing.T) {
	t.Run("on a link that tells what arrives", func(t *testing.T) { testGrants(t, false) })
	t.Run("on one that does not", func(t *testing.T) { testGrants(t, true) })
}

func testGrants(t *testing.T, hookless bool) {
	synctest.Test(t, func(t *testing.T) {
		l := newFake(t)
		l.hookless = hookless
		l.limits.InitialCredit = 8
		c := l.start(t.Context())
		l.want(frame.TypeEnd)
		l.begin("a")
		for range 7 {
			l.chunk("a", bstr("x"))
		}
		next := func() {
			_, err := c.Next(t.Context())
			require.NoError(t, err)
		}
		for range 1 + 4 { // the start, and four of which three are consumed
			next()
		}
		require.Equal(t, uint64(0), l.credits())
		next()
		require.Equal(t, uint64(4), l.credits(), "a batch")
		next()
		next()
		require.Equal(t, uint64(0), l.credits())
		waited := make(chan struct{})
		go func() { next(); close(waited) }()
		synctest.Wait() // waits
		require.Equal(t, uint64(3), l.credits(), "before the wait")
		l.endStream("a")
		<-waited
		l.succeed()
	})
}

// Pieces of an item behind its first are granted at once, and the first before a wait.
func TestContinuationIsGrantedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFake(t)
		l.limits.InitialCredit = 8
		c := l.start(t.Context())
		l.want(frame.TypeEnd)
		l.begin("a", sequence)
		for _, b := range []byte{0x84, 1, 2} {
			l.chunk("a", []byte{b})
		}
		_, err := c.Next(t.Context())
		require.NoError(t, err)
		read := make(chan struct{})
		go func() {
			defer close(read)
			e, err := c.Next(t.Context())
			if err != nil || len(e.Item.CBOR) != 5 {
				t.Errorf("%x, %v", e.Item.CBOR, err)
			}
		}()
		synctest.Wait()
		require.Equal(t, uint64(3), l.credits())
		l.chunk("a", []byte{3})
		l.chunk("a", []byte{4})
		synctest.Wait()
		require.Equal(t, uint64(2), l.credits())
		<-read
		for _, b := range []byte{0x82, 1, 2} { // an item that is all there
			l.chunk("a", []byte{b})
		}
		_, err = c.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, uint64(2), l.credits(), "its first piece is consumed when the item is")
		l.endStream("a")
		l.succeed()
	})
}

// Law L15: while the body waits for credit, what is read of the response is granted at once.
func TestGrantsWhileTheBodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFake(t)
		l.limits.InitialCredit, l.limits.MaxChunk = 8, 1
		c := l.start(t.Context(), call.Bytes("", bytes.Repeat([]byte{1}, 9)))
		synctest.Wait()
		l.want(frame.TypeStreamStart)
		for range 8 {
			l.want(frame.TypeChunk)
		}
		l.begin("a")
		for range 3 {
			l.chunk("a", bstr("x"))
		}
		for range 3 {
			_, err := c.Next(t.Context())
			require.NoError(t, err)
		}
		require.Equal(t, uint64(1), l.credits())
		l.grant(nil, 1, frame.RequestDirection)
		synctest.Wait()
		l.want(frame.TypeChunk)
		l.want(frame.TypeStreamEnd)
		l.want(frame.TypeEnd)
		_, err := c.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, uint64(0), l.credits(), "the body is done: batches again")
		l.endStream("a")
		l.succeed()
	})
}

// What was read before the body came to wait is granted then.
func TestGrantsWhenTheBodyComesToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFake(t)
		feed := make(chan []byte)
		c := l.start(t.Context(), call.Arg{Items: func(yield func(call.Item, error) bool) {
			for item := range feed {
				if !yield(call.Item{CBOR: item}, nil) {
					return
				}
			}
		}})
		synctest.Wait()
		l.want(frame.TypeStreamStart)
		l.begin("a")
		l.chunk("a", bstr("x"))
		l.chunk("a", bstr("y"))
		for range 3 {
			_, err := c.Next(t.Context())
			require.NoError(t, err)
		}
		feed <- []byte{1}
		synctest.Wait()
		var types []string
		for len(l.sent) > 0 {
			types = append(types, (<-l.sent).Type.String())
		}
		require.Contains(t, types, "credit")
		close(feed)
		synctest.Wait()
		l.endStream("a")
		l.succeed()
	})
}

// A Next that ends with its context loses nothing.
func TestNextThatGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFake(t)
		c := l.start(t.Context())
		l.want(frame.TypeEnd)
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		cancel(gone)
		_, err := c.Next(ctx)
		require.Equal(t, gone, err)
		l.silent() // the request goes on
		l.begin("a")
		l.chunk("a", bstr("x"))
		l.endStream("a")
		l.succeed()
		got, err := events(t, c)
		require.Equal(t, io.EOF, err)
		require.Len(t, got, 3)
	})
}

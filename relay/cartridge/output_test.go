package cartridge_test

import (
	"bytes"
	"context"
	"io"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/frame"
)

func callRequest(cap string) call.Request { return call.Request{Cap: cap} }

// payloads serves a handler and returns the payloads of its one stream.
func payloads(t *testing.T, limits frame.Limits, h cartridge.Handler) (sizes []int, all []byte) {
	t.Helper()
	c := cartridge.New("demo", "1", nil)
	c.Handle(testCap, "Test", h)
	s := start(t, c)
	s.hello(limits)
	r := s.req(testCap)
	r.endBody()
	r.want(frame.TypeStreamStart)
	for f := s.next(); f.Type == frame.TypeChunk; f = s.next() {
		require.Equal(t, uint64(len(sizes)), f.ChunkIndex.Or(99))
		head := 1
		switch f.Payload[0] {
		case 0x58:
			head = 2
		case 0x59:
			head = 3
		case 0x5a:
			head = 5
		}
		sizes = append(sizes, len(f.Payload)-head)
		all = append(all, f.Payload[head:]...)
		r.grant(f.StreamID, 1)
	}
	r.wantSuccess()
	require.NoError(t, s.finish())
	return sizes, all
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}

// Short writes gather to 4096 bytes; long ones are cut at max_chunk.
func TestWritesGatherAndAreCut(t *testing.T) {
	limits := frame.DefaultLimits()
	limits.MaxChunk = 10000
	data := pattern(123456)
	write := func(sizes ...int) cartridge.Handler {
		return func(_ context.Context, r *cartridge.Request) error {
			out, rest := r.Output("media:", nil), data
			for i := 0; len(rest) > 0; i++ {
				n := min(sizes[i%len(sizes)], len(rest))
				if _, err := out.Write(rest[:n]); err != nil {
					return err
				}
				rest = rest[n:]
			}
			return nil
		}
	}
	for name, test := range map[string]struct {
		h     cartridge.Handler
		sizes []int
	}{
		"at once":         {write(len(data)), []int{10000, 10000, 10000}},
		"byte by byte":    {write(1), []int{4096, 4096, 4096}},
		"in odd pieces":   {write(3000), []int{4096, 4096, 4096}},
		"short, long":     {write(10, 30000), []int{4096, 10000, 10000, 5914}},
		"just not gather": {write(4096), []int{4096, 4096}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // where no time passes
				sizes, all := payloads(t, limits, test.h)
				require.Equal(t, test.sizes, sizes[:len(test.sizes)])
				require.True(t, bytes.Equal(data, all))
			})
		})
	}
}

func TestReadFrom(t *testing.T) {
	data := pattern(1 << 20)
	for name, in := range map[string]func() io.Reader{
		"a file":            func() io.Reader { return struct{ io.Reader }{bytes.NewReader(data)} },
		"one byte a time":   func() io.Reader { return iotest.OneByteReader(bytes.NewReader(data[:9000])) },
		"data with the end": func() io.Reader { return iotest.DataErrReader(bytes.NewReader(data)) },
	} {
		t.Run(name, func(t *testing.T) {
			want, err := io.ReadAll(in())
			require.NoError(t, err)
			_, all := payloads(t, frame.DefaultLimits(), func(_ context.Context, r *cartridge.Request) error {
				n, err := io.Copy(r.Output("media:", nil), in())
				require.Equal(t, int64(len(want)), n)
				return err
			})
			require.True(t, bytes.Equal(want, all))
		})
	}
}

// A write that comes 20 ms after the first that gathers takes it along; one that comes before does not.
func TestGatheringEndsWithTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sizes, _ := payloads(t, frame.DefaultLimits(), func(_ context.Context, r *cartridge.Request) error {
			out := r.Output("media:", nil)
			for range 3 {
				out.Write([]byte("ab"))
				time.Sleep(10 * time.Millisecond)
			}
			out.Write([]byte("cd"))
			return out.Flush()
		})
		require.Equal(t, []int{6, 2}, sizes)
	})
}

// An unbounded output does not gather, and its STREAM_END has no count.
func TestUnboundedOutput(t *testing.T) {
	goOn := make(chan struct{})
	s := served(t, 32, func(_ context.Context, r *cartridge.Request) error {
		out := r.Output("media:", &cartridge.OutputOptions{Unbounded: true})
		if _, err := out.Write([]byte("tick")); err != nil {
			return err
		}
		<-goOn
		return nil
	})
	r := s.req(testCap)
	begin := r.want(frame.TypeStreamStart)
	require.True(t, begin.Unbounded.Or(false))
	require.Equal(t, bstr("tick"), r.want(frame.TypeChunk).Payload)
	close(goOn)
	require.False(t, r.want(frame.TypeStreamEnd).ChunkCount.IsSet())
	r.wantSuccess()
	require.NoError(t, s.finish())
}

// A requester that waits for each answer gets it though it is short: what gathers goes out before a wait.
func TestGatheredGoesOutBeforeAWait(t *testing.T) {
	s := served(t, 32, func(_ context.Context, r *cartridge.Request) error {
		in, err := r.Next()
		if err != nil {
			return err
		}
		_, err = io.Copy(r.Output("media:", nil), in)
		return err
	})
	r := s.req(testCap)
	r.begin("arg0")
	for i := range 5 {
		r.chunk("arg0", bstr("ping"))
		if i == 0 {
			r.want(frame.TypeStreamStart)
		}
		require.Equal(t, bstr("ping"), r.want(frame.TypeChunk).Payload)
	}
	r.endStream("arg0")
	r.endBody()
	require.Equal(t, uint64(5), r.want(frame.TypeStreamEnd).ChunkCount.Or(0))
	r.wantSuccess()
	require.NoError(t, s.finish())
}

func TestSequences(t *testing.T) {
	c := cartridge.New("demo", "1", nil)
	c.Handle(testCap, "Test", func(_ context.Context, r *cartridge.Request) error {
		out := r.Output("media:", &cartridge.OutputOptions{Sequence: true})
		var b frame.MetaBuilder
		b.Uint("seq", 7)
		meta, _ := b.Meta()
		if err := out.WriteItem(cartridge.Item{CBOR: []byte("\x83abc"[:1] + "\x01\x02\x03"), Meta: meta}); err != nil {
			return err
		}
		require.Error(t, out.WriteItem(cartridge.Item{CBOR: []byte("\x83")}), "no whole item")
		_, err := out.Write([]byte("x"))
		require.Error(t, err, "bytes")
		require.Error(t, r.Output("media:", nil).WriteValue(1), "an item for a scalar")
		return out.WriteValue(map[string]int{"a": 1})
	})
	s := start(t, c)
	limits := frame.DefaultLimits()
	limits.MaxChunk = 3
	s.hello(limits)
	r := s.req(testCap)
	r.endBody()
	r.want(frame.TypeStreamStart)
	var got []string
	for f := r.want(frame.TypeChunk); f.Type == frame.TypeChunk; f = s.next() {
		n, ok := f.Meta.Uint("seq")
		require.Equal(t, len(got) == 0, ok && n == 7, "meta is on an item's first piece")
		got = append(got, string(f.Payload))
	}
	require.Equal(t, []string{"\x83\x01\x02", "\x03", "\xa1\x61a", "\x01"}, got)
	r.want(frame.TypeStreamStart) // of the scalar that nothing was written to
	require.Equal(t, uint64(0), r.want(frame.TypeStreamEnd).ChunkCount.Or(99))
	r.wantSuccess()
	require.NoError(t, s.finish())
}

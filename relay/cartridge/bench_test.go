package cartridge_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/call"
	"github.com/cosim-go/cosim/relay/cartridge"
	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/relaytest"
)

const benchChunk = 256 << 10

// Chunks of 256 KiB to a cartridge and back over pipes. The metric x-copy is the ratio to bytes that are copied over pipes of the same
// kind, and hashed by who sends and by who receives them.
func BenchmarkEcho(b *testing.B) {
	b.Run("handler=copy", func(b *testing.B) {
		benchEcho(b, testCap, func(_ context.Context, r *cartridge.Request) error {
			in, err := r.Next()
			if err != nil {
				return err
			}
			_, err = io.Copy(r.Output("media:", nil), in)
			return err
		})
	})
	b.Run("handler=identity", func(b *testing.B) { benchEcho(b, echoCap, idle) })
}

func benchEcho(b *testing.B, cap string, handler cartridge.Handler) {
	near, far, err := relaytest.FilePipes()
	if err != nil {
		b.Fatal(err)
	}
	c := cartridge.New("bench", "1", nil)
	c.Handle(testCap, "Test", handler)
	served := make(chan error, 1)
	go func() { served <- c.Serve(context.Background(), far) }()
	h := newLoopback(b, near, frame.DefaultLimits())
	defer func() {
		h.Close()
		if err := <-served; err != nil {
			b.Error(err)
		}
	}()
	var frames, copies time.Duration
	b.SetBytes(benchChunk)
	b.ReportAllocs()
	b.StopTimer()
	const rounds = 8
	for i := range rounds {
		n := b.N*(i+1)/rounds - b.N*i/rounds
		begin := time.Now()
		b.StartTimer()
		echoOnce(b, h, cap, n)
		b.StopTimer()
		frames += time.Since(begin)
		begin = time.Now()
		copyOnce(b, n)
		copies += time.Since(begin)
	}
	b.ReportMetric(float64(frames)/float64(copies), "x-copy")
}

// echoOnce sends n chunks through a cartridge and takes them back.
func echoOnce(b *testing.B, h *loopback, cap string, n int) {
	size := int64(n) * benchChunk
	body := io.LimitReader(zeros{}, size)
	c, err := call.Start(b.Context(), h, call.Request{Cap: cap}, call.Arg{Body: body})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var got int64
	for {
		e, err := c.Next(b.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		got += int64(len(e.Data))
	}
	if got != size {
		b.Fatalf("%d bytes came back, want %d", got, size)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// copyOnce sends n times 256 KiB to a goroutine that sends them back.
func copyOnce(b *testing.B, n int) {
	near, far, err := relaytest.FilePipes()
	if err != nil {
		b.Fatal(err)
	}
	defer near.Close()
	go func() {
		defer far.Close()
		buf := make([]byte, benchChunk)
		for {
			if _, err := io.ReadFull(far, buf); err != nil {
				return
			}
			flow.Checksum(buf) // what came
			flow.Checksum(buf) // what goes
			if _, err := far.Write(buf); err != nil {
				return
			}
		}
	}()
	go func() {
		buf := make([]byte, benchChunk)
		for range n {
			flow.Checksum(buf)
			if _, err := near.Write(buf); err != nil {
				return
			}
		}
		near.CloseWrite()
	}()
	buf := make([]byte, benchChunk)
	for range n {
		if _, err := io.ReadFull(near, buf); err != nil {
			b.Error(err)
			return
		}
		flow.Checksum(buf)
	}
}

// One short request at a time.
func BenchmarkRequest(b *testing.B) {
	near, far, err := relaytest.FilePipes()
	if err != nil {
		b.Fatal(err)
	}
	c := cartridge.New("bench", "1", nil)
	c.Handle(testCap, "Test", short)
	served := make(chan error, 1)
	go func() { served <- c.Serve(context.Background(), far) }()
	h := newLoopback(b, near, frame.DefaultLimits())
	defer func() {
		h.Close()
		<-served
	}()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := call.Do(b.Context(), h, testCap, call.Bytes("media:", []byte("ping"))); err != nil {
			b.Fatal(err)
		}
	}
}

// short answers with the bytes of a short argument.
func short(_ context.Context, r *cartridge.Request) error {
	in, err := r.Next()
	if err != nil {
		return err
	}
	var buf [16]byte
	n, err := io.ReadFull(in, buf[:])
	if err != io.ErrUnexpectedEOF {
		return err
	}
	_, err = r.Output("media:", nil).Write(buf[:n])
	return err
}

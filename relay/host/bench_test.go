package host

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/pipe"
)

// serverFunc serves frames once it was greeted and checked.
type serverFunc func(a *actor) error

func (s serverFunc) Serve(_ context.Context, conn io.ReadWriteCloser) error {
	a := &actor{name: "demo", conn: conn}
	a.prepare()
	if err := a.hello(); err != nil {
		return err
	}
	for len(a.heard) == 0 || len(a.reqs) > 0 { // until the check of identity is over
		f, err := a.in.Next()
		if err != nil {
			return err
		}
		if err := a.take(f.Clone()); err != nil {
			return err
		}
	}
	return s(a)
}

// benchHost runs a host of one server behind a connection in memory, and returns the other end of it.
func benchHost(b *testing.B, s serverFunc) (*frame.Reader, *frame.Writer) {
	h := New(nil)
	if err := h.Register(Registration{Install: install("demo"), Groups: manifestOf("demo", "").Groups, Provider: Handlers(s)}); err != nil {
		b.Fatal(err)
	}
	near, far := pipe.New(1 << 20)
	go h.RunBehind(context.Background(), far, nil)
	b.Cleanup(func() {
		near.Close()
		h.Close()
	})
	return frame.NewReader(near, nil), frame.NewWriter(near, nil)
}

// await reads until a frame of a type.
func await(b *testing.B, in *frame.Reader, t frame.Type) {
	for {
		f, err := in.Next()
		if err != nil {
			b.Fatal(err)
		}
		if f.Type == t {
			return
		}
	}
}

// BenchmarkRequest has one request at a time answered by a handler in this process: REQ and END go down, END comes back.
func BenchmarkRequest(b *testing.B) {
	in, out := benchHost(b, func(a *actor) error {
		for {
			f, err := a.in.Next()
			if err != nil {
				return err
			}
			switch f.Type {
			case frame.TypeHeartbeat:
				a.beat(f)
			case frame.TypeEnd:
				end := frame.NewBodyEnd(f.ID)
				end.RoutingID = f.RoutingID
				a.out.Write(&end)
				a.out.Flush()
			}
		}
	})
	cap, n := []byte(capOf("echo")), uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		n++
		req, end := frame.NewReq(frame.Number(n), cap), frame.NewBodyEnd(frame.Number(n))
		req.RoutingID, end.RoutingID = frame.Number(n), frame.Number(n)
		end.Seq = 1
		out.Write(&req)
		out.Write(&end)
		out.Flush()
		await(b, in, frame.TypeEnd)
	}
}

const benchChunk = 256 << 10

// BenchmarkForward carries CHUNKs of 256 KiB through a host, in both directions. The metric x-copy is the ratio to a loop in
// its place that copies the bytes from one connection to the other.
func BenchmarkForward(b *testing.B) {
	payload := make([]byte, benchChunk)
	chunk := frame.NewChunk(frame.Number(1), []byte("s"), 0, payload, 1)
	chunk.RoutingID = frame.Number(1)
	b.Run("direction=down", func(b *testing.B) {
		_, out := benchHost(b, func(a *actor) error {
			_, err := io.Copy(io.Discard, a.conn)
			return err
		})
		req := frame.NewReq(frame.Number(1), []byte(capOf("echo")))
		req.RoutingID = frame.Number(1)
		out.Write(&req)
		out.Flush()
		benchCopies(b, func() error {
			chunk.Seq++
			if err := out.Write(&chunk); err != nil {
				return err
			}
			return out.Flush()
		})
	})
	b.Run("direction=up", func(b *testing.B) {
		in, out := benchHost(b, func(a *actor) error {
			chunk := chunk
			chunk.Seq = 0
			for {
				if err := a.out.Write(&chunk); err != nil {
					return err
				}
				if err := a.out.Flush(); err != nil {
					return err
				}
				chunk.Seq++
			}
		})
		req := frame.NewReq(frame.Number(1), []byte(capOf("echo")))
		req.RoutingID = frame.Number(1)
		out.Write(&req)
		out.Flush()
		benchCopies(b, func() error {
			_, err := in.NextHead()
			return err
		})
	})
}

// benchCopies measures a step that carries a CHUNK, by turns with copying as many bytes.
func benchCopies(b *testing.B, step func() error) {
	copied := newCopier(b)
	b.SetBytes(benchChunk)
	var ours, floor time.Duration
	for range 16 { // what is started is running then
		if err := step(); err != nil {
			b.Fatal(err)
		}
	}
	const round = 32
	for b.Loop() {
		begun := time.Now()
		for range round {
			if err := step(); err != nil {
				b.Fatal(err)
			}
		}
		ours += time.Since(begun)
		begun = time.Now()
		for range round {
			copied()
		}
		floor += time.Since(begun)
	}
	b.SetBytes(benchChunk * round)
	b.ReportMetric(float64(ours)/float64(floor), "x-copy")
}

// newCopier returns what writes as many bytes as a CHUNK has to a connection from which a loop copies them to another
// one, where they are read.
func newCopier(b *testing.B) func() {
	first, from := pipe.New(1 << 20)
	to, last := pipe.New(0)
	go func() {
		io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, 64<<10))
		to.Close()
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(io.Discard, last)
	}()
	b.Cleanup(func() {
		first.Close()
		<-done
	})
	data := make([]byte, benchChunk)
	return func() { first.Write(data) }
}

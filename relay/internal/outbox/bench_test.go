package outbox_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// discard takes everything at once.
type discard struct{}

func (discard) Write(p []byte) (int, error)    { return len(p), nil }
func (discard) TryWrite(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                   { return nil }

var benchSizes = []struct {
	name string
	size int
}{{"64B", 64}, {"1KiB", 1 << 10}, {"256KiB", 256 << 10}}

func benchBody(b *testing.B, size int) ([]byte, frame.Head) {
	b.Helper()
	f := frame.Frame{
		Type: frame.TypeChunk, ID: frame.NewUUID(), Payload: make([]byte, size), StreamID: []byte("out"),
		ChunkIndex: frame.Some[uint64](1), Checksum: frame.Some[uint64](1 << 60),
	}
	body, err := f.Append(nil)
	if err != nil {
		b.Fatal(err)
	}
	return body, f.Head()
}

// BenchmarkForward measures queueing a frame that was read, beside copying its bytes. What is
// queued is thrown away when 64 KiB wait.
func BenchmarkForward(b *testing.B) {
	for _, c := range benchSizes {
		body, head := benchBody(b, c.size)
		b.Run("payload="+c.name+"/forward", func(b *testing.B) {
			o := outbox.New(discard{}, &outbox.Options{Number: true})
			defer o.Close()
			xid := frame.Number(7)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := o.Forward(body, &head, xid); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("payload="+c.name+"/copy", func(b *testing.B) {
			dst := make([]byte, 512<<10)
			at := 0
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if at += len(body); at+len(body) > len(dst) {
					at = 0
				}
				copy(dst[at:], body)
			}
		})
	}
}

// BenchmarkTurn measures a frame there and a byte back over a socket pair, with an outbox and
// with a write of the same bytes.
func BenchmarkTurn(b *testing.B) {
	for _, c := range benchSizes[:2] {
		body, head := benchBody(b, c.size)
		b.Run("payload="+c.name+"/outbox", func(b *testing.B) {
			turns(b, len(body), func(near relaytest.Conn) func() error {
				o := outbox.New(near, &outbox.Options{Number: true})
				return func() error {
					err := o.Forward(body, &head, frame.ID{})
					o.Flush()
					return err
				}
			})
		})
		b.Run("payload="+c.name+"/write", func(b *testing.B) {
			turns(b, len(body), func(near relaytest.Conn) func() error {
				wire := make([]byte, frame.PrefixSize+len(body))
				return func() error {
					_, err := near.Write(wire)
					return err
				}
			})
		})
	}
}

// turns sends and waits for the answer again and again. What is sent may be a few bytes longer
// than size.
func turns(b *testing.B, size int, sender func(near relaytest.Conn) func() error) {
	near, far, err := relaytest.SocketPair()
	if err != nil {
		b.Fatal(err)
	}
	defer near.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer far.Close()
		for buf := make([]byte, 2*size); ; {
			if _, err := far.Read(buf); err != nil {
				return
			}
			if _, err := far.Write(buf[:1]); err != nil {
				return
			}
		}
	}()
	send, answer := sender(near), make([]byte, 1)
	b.ReportAllocs()
	for b.Loop() {
		if err := send(); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(near, answer); err != nil {
			b.Fatal(err)
		}
	}
	near.Close()
	<-done
}

// BenchmarkSend measures encoding and queueing with many senders.
func BenchmarkSend(b *testing.B) {
	for _, c := range benchSizes {
		b.Run(fmt.Sprintf("payload=%s", c.name), func(b *testing.B) {
			o := outbox.New(discard{}, &outbox.Options{Number: true})
			defer o.Close()
			b.SetBytes(int64(c.size))
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				f := log(frame.NewUUID(), c.size)
				for pb.Next() {
					if err := o.Send(f); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

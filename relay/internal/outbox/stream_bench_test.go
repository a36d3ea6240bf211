package outbox_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// BenchmarkStream measures frames one after the other over a socket pair to a far end that
// throws them away, beside writing the same bytes. The sender waits while 512 KiB are queued.
func BenchmarkStream(b *testing.B) {
	for _, c := range benchSizes {
		body, head := benchBody(b, c.size)
		b.Run("payload="+c.name+"/outbox", func(b *testing.B) {
			stream(b, len(body), func(near relaytest.Conn) func() error {
				o := outbox.New(near, &outbox.Options{Number: true, MaxQueued: 512 << 10})
				return func() error {
					err := o.Forward(body, &head, frame.ID{})
					if err == nil && o.Full() {
						err = o.Room(b.Context())
					}
					return err
				}
			})
		})
		b.Run("payload="+c.name+"/writer", func(b *testing.B) {
			stream(b, len(body), func(near relaytest.Conn) func() error {
				w := frame.NewWriter(near, nil)
				wire := make([]byte, frame.PrefixSize+len(body))
				return func() error { return w.WriteWire(wire) }
			})
		})
	}
}

func stream(b *testing.B, size int, sender func(near relaytest.Conn) func() error) {
	near, far, err := relaytest.SocketPair()
	if err != nil {
		b.Fatal(err)
	}
	defer near.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer far.Close()
		for buf := make([]byte, 256<<10); err == nil; {
			_, err = far.Read(buf)
		}
	}()
	send := sender(near)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if err := send(); err != nil {
			b.Fatal(err)
		}
	}
	near.Close()
	<-done
}

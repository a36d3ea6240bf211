package outbox_test

import (
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/relaytest"
)

func TestFramesArriveNumberedPerFlow(t *testing.T) {
	for _, transport := range relaytest.Transports() {
		t.Run(transport.Name, func(t *testing.T) {
			near, far, err := transport.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer far.Close()
			o := outbox.New(near, &outbox.Options{Number: true})
			rid := frame.NewUUID()
			for range 3 {
				if err := o.Send(&frame.Frame{Type: frame.TypeLog, ID: rid}); err != nil {
					t.Fatal(err)
				}
			}
			o.Flush()
			in := frame.NewReader(far, nil)
			for want := range uint64(3) {
				f, err := in.Next()
				if err != nil {
					t.Fatal(err)
				}
				if f.ID != rid || f.Seq != want {
					t.Errorf("Next = %v number %d, want %v number %d", f.ID, f.Seq, rid, want)
				}
			}
			if err := o.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

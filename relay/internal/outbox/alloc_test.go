package outbox_test

import (
	"io"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/outbox"
	"github.com/cosim-go/cosim/relay/relaytest"
)

// A frame that is forwarded or sent allocates nothing, whatever its size, once buffers of that
// size exist.
func TestFramesDoNotAllocate(t *testing.T) {
	for _, size := range []int{64, 1 << 10, 60_000} {
		near, far, err := relaytest.SocketPair()
		if err != nil {
			t.Fatal(err)
		}
		defer far.Close()
		o := outbox.New(near, &outbox.Options{Number: true, RememberEnded: 64})
		defer o.Close()
		f := frame.Frame{
			Type: frame.TypeChunk, ID: frame.NewUUID(), Payload: make([]byte, size),
			ChunkIndex: frame.Some[uint64](1), Checksum: frame.Some[uint64](1),
		}
		body, err := f.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		head, xid, ids := f.Head(), frame.Number(7), uint64(0)
		buf := make([]byte, 256<<10)
		for name, give := range map[string]func() error{
			"Send":    func() error { return o.Send(&f) },
			"Forward": func() error { return o.Forward(body, &head, xid) },
			"a flow": func() error {
				ids++
				head := frame.Head{Type: frame.TypeEnd, ID: frame.Number(ids)}
				return o.Forward(body, &head, xid)
			},
		} {
			turn := func() {
				if err := give(); err != nil {
					t.Fatal(err)
				}
				n := o.Queued()
				o.Flush()
				if _, err := io.ReadFull(far, buf[:n]); err != nil {
					t.Fatal(err)
				}
			}
			for range 200 {
				turn()
			}
			if n := testing.AllocsPerRun(200, turn); n != 0 {
				t.Errorf("%s of %d bytes allocates %v times", name, size, n)
			}
		}
	}
}

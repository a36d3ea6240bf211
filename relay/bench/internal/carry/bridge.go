package carry

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/cosim-go/cosim/relay/bench/internal/load"
	"github.com/cosim-go/cosim/relay/bench/internal/measure"
	"github.com/cosim-go/cosim/relay/bench/internal/pair"
)

// A Bridge passes on what arrives at either connection to the other. It returns after both were closed by
// their far sides, with nil, or when something failed.
type Bridge func(local, socket net.Conn) error

// A span is a bridge between two socket pairs: whatever is written to either end comes out at the other.
type span struct {
	local, socket net.Conn // the ends that are not the bridge's
	bridge        sync.WaitGroup
	err           error // of the bridge; read after it ended
}

func newSpan(bridge Bridge) (*span, error) {
	local, hostSide, err := pair.New()
	if err != nil {
		return nil, err
	}
	socketSide, socket, err := pair.New()
	if err != nil {
		return nil, errors.Join(err, local.Close(), hostSide.Close())
	}
	s := &span{local: local, socket: socket}
	s.bridge.Go(func() {
		err := bridge(hostSide, socketSide)
		s.err = errors.Join(unlessClosed(err), unlessClosed(hostSide.Close()), unlessClosed(socketSide.Close()))
	})
	return s, nil
}

func (s *span) close() error {
	s.local.Close()
	s.socket.Close()
	s.bridge.Wait()
	return s.err
}

// NewBridge is a contender for passing on a tape's frames from the socket to the local side. An operation is a
// CHUNK and its share of the frames around it.
func NewBridge(name string, kind measure.Kind, bridge Bridge, tape load.Tape) measure.Contender {
	return measure.Contender{Name: name, Kind: kind, Open: func() (measure.Runner, error) {
		return OpenCrossing(bridge, tape)
	}}
}

// A Crossing plays a tape over and over into one end of a bridge and reads it at the other. It looks at
// neither the frames nor, but for Check, the bytes.
type Crossing struct {
	span   *span
	tape   load.Tape
	next   int // batch
	ahead  int // CHUNKs that were sent and not asked for yet: batches are sent whole
	buffer []byte
}

// OpenCrossing starts a bridge.
func OpenCrossing(bridge Bridge, tape load.Tape) (*Crossing, error) {
	s, err := newSpan(bridge)
	if err != nil {
		return nil, err
	}
	return &Crossing{span: s, tape: tape, buffer: make([]byte, pair.Buffer)}, nil
}

// Run sends n CHUNKs, to the next whole batch, and returns when all bytes sent have arrived.
func (c *Crossing) Run(n int) error {
	batches := c.take(n)
	size := 0
	for i := range batches {
		size += len(c.batch(i))
	}
	err := both(c.span.socket, func() error { return c.play(batches) }, func() error { return c.drain(size, nil) })
	c.next = (c.next + batches) % len(c.tape.Batches)
	if err != nil {
		return errors.Join(err, c.span.close())
	}
	return nil
}

// Check plays the tape once, from its beginning to its end, and compares what arrives. It is for a crossing
// that has not been used yet.
func (c *Crossing) Check() error {
	var want, got []byte
	for _, b := range c.tape.Batches {
		want = append(want, b.Wire...)
	}
	see := func(b []byte) { got = append(got, b...) }
	play := func() error { return c.play(len(c.tape.Batches)) }
	if err := both(c.span.socket, play, func() error { return c.drain(len(want), see) }); err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%d bytes arrived, %d were sent; they are not the same", len(got), len(want))
	}
	return nil
}

// take says how many batches hold n CHUNKs.
func (c *Crossing) take(n int) int {
	batches := 0
	for ; c.ahead < n; batches++ {
		c.ahead += c.tape.Batches[(c.next+batches)%len(c.tape.Batches)].Chunks
	}
	c.ahead -= n
	return batches
}

func (c *Crossing) batch(i int) []byte {
	return c.tape.Batches[(c.next+i)%len(c.tape.Batches)].Wire
}

func (c *Crossing) play(batches int) error {
	for i := range batches {
		if _, err := c.span.socket.Write(c.batch(i)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Crossing) drain(size int, see See) error {
	for size > 0 {
		n, err := c.span.local.Read(c.buffer)
		if err != nil {
			return err
		}
		if see != nil {
			see(c.buffer[:n])
		}
		size -= n
	}
	return nil
}

// Close ends the bridge and waits for it.
func (c *Crossing) Close() error { return c.span.close() }

// EchoOver returns an echo whose frames pass a bridge on their way there and back. Both ends are raw.
func EchoOver(bridge Bridge) OpenEcho {
	return func(tape load.Tape) (Echo, error) {
		s, err := newSpan(bridge)
		if err != nil {
			return nil, err
		}
		return Stream{s.socket, s.local, sync.OnceValue(s.close)}.Echo(tape), nil
	}
}

package relaytest

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/cosim-go/cosim/relay/frame"
)

// A Disorder says how frames are put out of order. The zero value leaves them as they are.
type Disorder struct {
	// Rand decides. Nil is a generator with a seed that never changes.
	Rand *rand.Rand

	// Window is how many frames may overtake a frame: a reorder buffer that holds as many can
	// put them right again.
	Window int

	// KeepFlows leaves the frames of each flow in order, so that only flows overtake each other.
	// Frames outside of flows overtake and are overtaken all the same.
	KeepFlows bool

	// Skip is how many frames at the beginning stay where they are.
	Skip int

	// Linger is how long [Reorder] holds frames back when no more are written; 0 is until
	// CloseWrite. [Shuffle] does not use it.
	Linger time.Duration
}

// Shuffle returns the frames, each with its length prefix, in another order.
func Shuffle(frames [][]byte, d Disorder) [][]byte {
	s := newShuffler(d)
	out := make([][]byte, 0, len(frames))
	emit := func(wire []byte) error {
		out = append(out, wire)
		return nil
	}
	for _, wire := range frames {
		s.add(wire, emit)
	}
	s.drain(emit)
	return out
}

// A shuffler holds frames back.
type shuffler struct {
	Disorder
	held []heldFrame // in the order of arrival
}

type heldFrame struct {
	wire      []byte
	flow      flowID
	overtaken int
}

// A flowID tells flows apart; a frame that belongs to none has a number of its own.
type flowID struct {
	id, routingID frame.ID
	flowing       bool
}

func newShuffler(d Disorder) *shuffler {
	if d.Rand == nil {
		d.Rand = rand.New(rand.NewPCG(1, 2))
	}
	return &shuffler{Disorder: d}
}

// add takes over a frame and emits those that nothing holds back any longer.
func (s *shuffler) add(wire []byte, emit func([]byte) error) error {
	if s.Skip > 0 {
		s.Skip--
		return emit(wire)
	}
	s.held = append(s.held, heldFrame{wire: wire, flow: flowOf(wire)})
	for len(s.held) > s.Window {
		if err := s.release(emit); err != nil {
			return err
		}
	}
	return nil
}

// drain emits all that is held.
func (s *shuffler) drain(emit func([]byte) error) error {
	for len(s.held) > 0 {
		if err := s.release(emit); err != nil {
			return err
		}
	}
	return nil
}

func (s *shuffler) release(emit func([]byte) error) error {
	i := s.choose()
	wire := s.held[i].wire
	for k := range s.held[:i] {
		s.held[k].overtaken++
	}
	s.held = append(s.held[:i], s.held[i+1:]...)
	return emit(wire)
}

// choose returns the place of the frame to go next. The oldest has been overtaken most often.
func (s *shuffler) choose() int {
	if s.held[0].overtaken >= s.Window {
		return 0
	}
	i := s.Rand.IntN(len(s.held))
	if !s.KeepFlows || !s.held[i].flow.flowing {
		return i
	}
	for k := range s.held[:i] {
		if s.held[k].flow == s.held[i].flow {
			return k
		}
	}
	return i
}

func flowOf(wire []byte) flowID {
	head, err := frame.Check(wire[prefixSize:])
	if err != nil || !head.Type.Flow() {
		return flowID{}
	}
	return flowID{head.ID, head.RoutingID, true}
}

// prefixSize is how many bytes of length stand before a frame's body.
const prefixSize = 4

// firstFrame cuts the first frame with its prefix off, if it is there in full.
func firstFrame(b []byte) (wire, rest []byte, ok bool) {
	if len(b) < prefixSize {
		return nil, b, false
	}
	size := int(binary.BigEndian.Uint32(b))
	if len(b)-prefixSize < size {
		return nil, b, false
	}
	return b[:prefixSize+size], b[prefixSize+size:], true
}

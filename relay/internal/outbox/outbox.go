// Package outbox queues the frames that go to one link and writes them, so that nobody who has
// a frame for it waits for the link.
//
// An [Outbox] numbers frames and takes copies of them in one step. [Outbox.Flush] writes what the
// link takes at once, from whoever calls it; only when the link is blocked, or cannot be
// written to without waiting, a goroutine writes the rest. Who feeds an outbox asks
// [Outbox.Full], or a [Source], when it has time to wait.
package outbox

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

const (
	// defaultQueued is how many bytes may wait before an outbox is full, unless options say
	// otherwise.
	defaultQueued = 64 << 20

	// defaultStall is how long a full outbox waits for its link, unless options say otherwise.
	defaultStall = 10 * time.Second

	// flushSize is how many bytes wait before an outbox writes by itself.
	flushSize = 64 << 10

	// maxFlows is how many flows have numbers. One that is cancelled and not forgotten stays
	// until there are so many.
	maxFlows = 64 << 10
)

var (
	// ErrClosed is the error of an outbox after Close or Finish.
	ErrClosed = errors.New("outbox: closed")

	// ErrStalled is the error of a full outbox whose link took nothing for too long.
	ErrStalled = errors.New("outbox: the link takes nothing")
)

// Options are the options of [New]. The zero value has the defaults.
type Options struct {
	// Number gives every frame that belongs to a flow its number, from 0 on, and forgets the
	// flow at its END or ERR. Otherwise frames keep their numbers.
	Number bool

	// RememberEnded is how many flows are remembered after their END or ERR. What still comes
	// for them, but for a REQ, is not written, and Stragglers, when not nil, is called for it,
	// at times by several goroutines at once.
	RememberEnded int
	Stragglers    func(frame.Type)

	// MaxFrame is the longest body that is taken, in bytes. 0 and less is
	// [frame.DefaultMaxFrame]; above [frame.HardMaxFrame] counts as that.
	MaxFrame int

	// MaxQueued is how many bytes may wait before Full is true. 0 and less is 64 MiB. No frame
	// is refused for it.
	MaxQueued int

	// Stall is how long a full outbox waits for a link that takes nothing before it fails with
	// [ErrStalled]. 0 and less is 10 s.
	Stall time.Duration

	// Failed, when not nil, is called once, in a goroutine of its own, with the error that
	// ended writing. Close and Finish are not errors.
	Failed func(error)

	// Manual leaves it to the caller to Flush: Send and Forward never write by themselves.
	Manual bool

	// Corked holds everything until Uncork.
	Corked bool
}

// An Outbox is a queue of frames to a link. It is safe for concurrent use.
type Outbox struct {
	options Options
	taken   atomic.Uint64 // bytes queued since the beginning
	written atomic.Uint64 // of them, bytes that the link took
	done    sync.WaitGroup

	closing  sync.Once // of the link
	closeErr error

	mu       sync.Mutex
	max      int
	flows    *flow.SeqAssigner // nil: frames have their numbers
	ended    *flow.Ended       // nil: nobody asks
	queue    queue
	link     link // nil when there is none yet
	busy     bool // somebody writes to the link
	corked   bool
	ending   bool  // Finish was called
	finished bool  // and did all
	err      error // for good
	waiters  waiters
	stall    stall
}

// New returns an outbox that owns w: it closes w at its end. w may be nil when the outbox is
// corked. No options are the defaults.
func New(w io.WriteCloser, o *Options) *Outbox {
	if o == nil {
		o = &Options{}
	}
	b := &Outbox{options: *o, corked: o.Corked, max: bodyLimit(o.MaxFrame)}
	if b.options.MaxQueued <= 0 {
		b.options.MaxQueued = defaultQueued
	}
	if b.options.Stall <= 0 {
		b.options.Stall = defaultStall
	}
	if o.Number {
		b.flows = flow.NewSeqAssigner(&flow.AssignerOptions{MaxFlows: maxFlows})
	}
	if o.RememberEnded > 0 {
		b.ended = flow.NewEnded(o.RememberEnded)
	}
	if w != nil {
		b.link = newLink(w, b.wrote)
	}
	return b
}

// SetMaxFrame sets the longest body that is taken from the next frame on; see Options.
func (o *Outbox) SetMaxFrame(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.max = bodyLimit(n)
}

func bodyLimit(asked int) int {
	if asked <= 0 {
		asked = frame.DefaultMaxFrame
	}
	return min(asked, frame.HardMaxFrame)
}

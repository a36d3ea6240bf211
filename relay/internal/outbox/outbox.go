// Package outbox queues the frames that go to one link and writes them, so that nobody who has
// a frame for it waits for the link.
//
// An [Outbox] numbers frames and takes copies of them in one step; [Outbox.Flush] starts
// writing. Who feeds it asks [Outbox.Full] or a [Source] when it has time to wait.
package outbox

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

const (
	// defaultQueued is how many bytes may wait before an outbox is full, unless options say otherwise.
	defaultQueued = 64 << 20

	// defaultStall is how long a full outbox waits for its link, unless options say otherwise.
	defaultStall = 10 * time.Second

	// flushSize is how many bytes wait before an outbox writes by itself.
	flushSize = 64 << 10

	// keptSize is how large a buffer may be that is kept while nothing waits, in bytes.
	keptSize = 1 << 20
)

var (
	// ErrClosed is the error of an outbox after Close or Finish.
	ErrClosed = errors.New("outbox: closed")

	// ErrStalled is the error of an outbox whose link took nothing for too long.
	ErrStalled = errors.New("outbox: the link takes nothing")
)

// Options are the options of [New]. The zero value has the defaults.
type Options struct {
	// Number gives every frame that belongs to a flow its number, from 0 on, and forgets the
	// flow at its END or ERR. Otherwise frames keep their numbers.
	Number bool

	// RememberEnded is how many flows are remembered after their END or ERR. Frames of them
	// are not written: Stragglers, when not nil, is called instead, with the outbox locked.
	RememberEnded int
	Stragglers    func(frame.Type)

	// MaxFrame is the longest body that is taken, in bytes. 0 and less is
	// [frame.DefaultMaxFrame]; above [frame.HardMaxFrame] counts as that.
	MaxFrame int

	// MaxQueued is how many bytes may wait before Full is true. 0 and less is 64 MiB. No frame is
	// refused for it.
	MaxQueued int

	// Stall is how long a full outbox waits for a link that takes nothing before it fails with
	// [ErrStalled]. 0 and less is 10 s.
	Stall time.Duration

	// Failed, when not nil, is called once, in a goroutine of its own, with the error that
	// ended writing. Close and Finish do not end it with an error.
	Failed func(error)

	// Corked holds everything until Uncork.
	Corked bool
}

// An Outbox is a queue of frames to a link. It is safe for concurrent use.
type Outbox struct {
	mu      sync.Mutex
	w       io.WriteCloser
	o       Options
	max     int
	flows   flow.SeqAssigner
	buf     []byte // waits
	spare   []byte // is being written, or free
	writing int    // bytes of spare that are not written
	busy    bool
	corked  bool
	ending  bool // Finish or Close was called
	err     error
	changed chan struct{} // closed at every change, when not nil
	done    sync.WaitGroup
}

// New returns an outbox that owns w: it closes it at the end. w may be nil when the outbox is
// corked. No options are the defaults.
func New(w io.WriteCloser, o *Options) *Outbox {
	if o == nil {
		o = &Options{}
	}
	b := &Outbox{w: w, o: *o, corked: o.Corked}
	if b.o.MaxQueued <= 0 {
		b.o.MaxQueued = defaultQueued
	}
	if b.o.Stall <= 0 {
		b.o.Stall = defaultStall
	}
	b.SetMaxFrame(o.MaxFrame)
	return b
}

// SetMaxFrame sets the longest body that is taken from the next frame on; see Options.
func (o *Outbox) SetMaxFrame(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n <= 0 {
		n = frame.DefaultMaxFrame
	}
	o.max = min(n, frame.HardMaxFrame)
}

// Send numbers a frame, encodes it and queues it. It sets f.Seq when it numbers, and does not
// keep f nor what f refers to. It fails with [frame.ErrEncode] or [frame.ErrFrameTooLarge] for
// a frame that cannot be written, and has queued nothing then; a dead outbox returns its error.
func (o *Outbox) Send(f *frame.Frame) error {
	if err := f.Sendable(); err != nil {
		return err
	}
	o.mu.Lock()
	err := o.send(f)
	flush := len(o.buf) >= flushSize
	o.mu.Unlock()
	if flush {
		o.Flush()
	}
	return err
}

// Forward queues a frame that was read: body is what [frame.Reader.Wire] returned behind its
// prefix, h its head. The frame gets its number, and xid for a routing id when it has none and
// xid is one; all else goes on as it came. It fails as Send does and keeps nothing of body.
func (o *Outbox) Forward(body []byte, h *frame.Head, xid frame.ID) error {
	o.mu.Lock()
	err := o.forward(body, h, xid)
	flush := len(o.buf) >= flushSize
	o.mu.Unlock()
	if flush {
		o.Flush()
	}
	return err
}

// Forget forgets the numbers of a flow: it has ended without an END or ERR from here.
func (o *Outbox) Forget(k flow.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flows.Remove(k)
}

// Flush starts writing what is queued. It never waits for the link.
func (o *Outbox) Flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.start()
}

// Full reports whether more than MaxQueued bytes wait.
func (o *Outbox) Full() bool { return o.Queued() > o.o.MaxQueued }

// Queued returns how many bytes wait, prefixes included.
func (o *Outbox) Queued() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.queued()
}

// Room waits while the outbox is full. It returns the error of one that died, or the cause of
// ctx when that ends first.
func (o *Outbox) Room(ctx context.Context) error {
	return o.wait(ctx, func() bool { return o.queued() <= o.o.MaxQueued })
}

// Uncork begins to write to w, which the outbox owns from now on.
func (o *Outbox) Uncork(w io.WriteCloser) {
	o.mu.Lock()
	if o.err != nil || o.ending && !o.corked {
		o.mu.Unlock()
		w.Close()
		return
	}
	o.w, o.corked = w, false
	o.start()
	o.mu.Unlock()
}

// Finish takes no more frames, writes what is queued and closes the link. It waits for that, and
// returns the error that ended writing before; when ctx ends first it is as Close, and
// returns the cause of ctx.
func (o *Outbox) Finish(ctx context.Context) error {
	o.mu.Lock()
	o.ending = true
	o.start()
	o.mu.Unlock()
	err := o.wait(ctx, func() bool { return o.queued() == 0 })
	o.Close()
	return err
}

// Close ends writing at once: what is queued is lost. It closes the link and waits until
// nobody writes to it any more. Further calls do nothing.
func (o *Outbox) Close() error {
	o.mu.Lock()
	o.end(ErrClosed, nil)
	o.mu.Unlock()
	o.done.Wait()
	return nil
}

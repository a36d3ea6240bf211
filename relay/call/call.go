package call

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/internal/stream"
	"github.com/cosim-go/cosim/relay/stats"
)

// errClosed is the error of a call that was closed.
var errClosed = errors.New("the call is closed")

// errOverrun is how a request ends whose handler sent a CHUNK that it had no credit for.
var errOverrun = &Error{CodeCreditViolation, frame.AttributionInternal, "a chunk of the response came beyond its credit", ""}

// A Call is a request that was begun. Its methods are safe for concurrent use, except that Next, Collect and End
// belong to one goroutine at a time.
type Call struct {
	link    Link
	batcher Batcher // the link, if it is one
	limits  frame.Limits

	life    context.Context // of sending
	end     context.CancelCauseFunc
	unwatch func() bool  // of the context given to Start; nil when it never ends
	waiters atomic.Int32 // senders that may be waiting
	gates   stream.Gates // of the arguments

	mu        sync.Mutex // nothing is done with the link while it is held
	idle      sync.Cond  // of mu: busy is 0
	busy      int        // goroutines of the call, those in code of the caller not counted
	responses []*response
	failure   error // of this side: the first one
	overrun   bool  // a CHUNK came beyond its credit
	rejected  bool  // and that was said
	opened    bool
	cancelled bool
	closed    bool

	// Of the goroutine that reads.
	held *response // has the event that Next returned last
	err  error     // for good
	info frame.EndInfo
	open int // streams of the response that have not ended
}

// Start begins a request and sends its arguments, in a goroutine of its own, while the caller reads the response.
// The request is cancelled when ctx ends, for the reason that [CancelCause] makes of it, and when reading an
// argument fails. Whoever starts a call closes it.
func Start(ctx context.Context, o Opener, r Request, args ...Arg) (*Call, error) {
	for i := range args {
		if err := args[i].check(i); err != nil {
			return nil, err
		}
	}
	c := &Call{}
	c.idle.L = &c.mu
	c.hook(&r)
	r.Batch = true
	link, err := o.Open(ctx, r)
	if err != nil {
		return nil, err
	}
	c.begin(ctx, link)
	if fits(args, c.limits) {
		c.send(args)
		return c, nil
	}
	c.spawn(func() { c.send(args) })
	return c, nil
}

// spawn does something in a goroutine that Close waits for.
func (c *Call) spawn(f func()) {
	if c.enter() != nil {
		return
	}
	go func() {
		defer c.leave()
		f()
	}()
}

// enter says that a goroutine is about to use the call. It fails after Close.
func (c *Call) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	c.busy++
	return nil
}

// rejoin is enter for a goroutine that is counted already and has left for a while. When it fails the goroutine
// counts as there all the same, and must leave without using the call.
func (c *Call) rejoin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy++
	if c.closed {
		return errClosed
	}
	return nil
}

// leave is the opposite of enter.
func (c *Call) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy--; c.busy == 0 {
		c.idle.Broadcast()
	}
}

// hook lets the call see what arrives for it.
func (c *Call) hook(r *Request) {
	onCredit, onChunk := r.OnCredit, r.OnChunk
	r.OnCredit = func(f *frame.Frame) {
		c.gates.Grant(f, frame.RequestDirection)
		if onCredit != nil {
			onCredit(f)
		}
	}
	r.OnChunk = func(f *frame.Frame) {
		c.arrived(f)
		if onChunk != nil {
			onChunk(f)
		}
	}
}

func (c *Call) begin(ctx context.Context, link Link) {
	c.batcher, _ = link.(Batcher)
	c.limits = link.Limits()
	c.life, c.end = context.WithCancelCause(ctx)
	c.mu.Lock()
	c.link, c.opened = link, true
	overrun := c.overrun
	c.mu.Unlock()
	if overrun {
		c.refuseOverrun()
	}
	if ctx.Done() == nil {
		return
	}
	c.unwatch = context.AfterFunc(ctx, func() {
		if c.enter() == nil {
			defer c.leave()
			c.Cancel(false, CancelCause(ctx))
		}
	})
}

// ID returns the request's id.
func (c *Call) ID() frame.ID { return c.link.ID() }

// End returns what the END of the response said: the zero EndInfo before it came. It borrows nothing.
func (c *Call) End() frame.EndInfo { return c.info }

// Cancel asks for the end of the request, for a reason, or nil for none: no more of the arguments is sent, and Next
// goes on to the ERR that ends the response. Force kills the process that serves it, with everything else that it
// serves.
func (c *Call) Cancel(force bool, reason *Cancelled) error {
	if reason == nil {
		reason = &Cancelled{}
	}
	c.mu.Lock()
	c.cancelled = true
	c.mu.Unlock()
	c.end(reason)
	return c.link.Cancel(force, reason.Reason())
}

// CloseStream asks the handler to end a live input, such as the argument arg0, and to finish as usual. "" is all
// of them.
func (c *Call) CloseStream(ctx context.Context, id string) error {
	var streamID []byte
	if id != "" {
		streamID = []byte(id)
	}
	f := frame.NewCloseStream(c.link.ID(), streamID)
	return c.link.Send(ctx, &f)
}

// Close ends the call. A request that still runs is abandoned and cancelled with the code ABORTED. It may be called
// twice, and at any time; a Next that waits fails.
//
// Close waits until nobody uses the arguments any more, except for a Read that is waiting: that is left to the
// reader.
func (c *Call) Close() error {
	c.mu.Lock()
	first, cancelled := !c.closed, c.cancelled
	c.closed = true
	c.mu.Unlock()
	var err error
	if first {
		if cause := context.Cause(c.life); cause != nil && cause != ErrEnded && !cancelled {
			c.Cancel(false, reasonOf(cause)) // the context has ended, and its reason is better than none
		}
		c.finish(errClosed)
		err = c.link.Close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.busy > 0 {
		c.idle.Wait()
	}
	return err
}

// finish ends what sends.
func (c *Call) finish(reason error) {
	if c.unwatch != nil {
		c.unwatch()
	}
	c.end(reason)
}

// fail notes why the request cannot go on, and cancels it. Next reports the first such reason.
func (c *Call) fail(err error, r *Cancelled) {
	c.mu.Lock()
	if c.failure == nil {
		c.failure = err
	}
	c.mu.Unlock()
	c.Cancel(false, r)
}

func (c *Call) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

// refuseOverrun says, once, that the request ends with errOverrun.
func (c *Call) refuseOverrun() {
	c.mu.Lock()
	first := !c.rejected
	c.rejected = true
	c.mu.Unlock()
	if !first {
		return
	}
	c.link.Drop(stats.CreditViolation, frame.TypeChunk)
	c.fail(errOverrun, &Cancelled{errOverrun.Code, errOverrun.Attribution, errOverrun.Message})
}

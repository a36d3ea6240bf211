package admission

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// DefaultGrace is how long requests wait for a cartridge that is away, from the start of its outage.
const DefaultGrace = 60 * time.Second

// Errors of a Controller.
var (
	// ErrNoPool is for a cap whose pool, or the pool of all, the cartridge does not tell. It is a frame.ErrProtocol.
	ErrNoPool = frame.Errorf(frame.ErrProtocol, "the cartridge tells no pool for this cap, or none for all")

	ErrUnavailable = errors.New("the cartridge is away")
	ErrUnknownPool = errors.New("unknown pool")
	ErrClosed      = errors.New("nobody is let in any more")
)

// A Controller lets requests in. All methods are safe for concurrent use.
type Controller struct {
	// Grace is how long after the start of an outage requests wait for its end; 0 is DefaultGrace. It is
	// read by Suspend, during which it must not change.
	Grace time.Duration

	mu     sync.Mutex
	pools  map[string]*pool
	all    *pool // that of manifest.PoolAll; nil without one
	lines  map[string]*line
	heads  []*line // the lines in which somebody waits, by the age of their first
	age    uint64  // of the newest who waits
	outage outage
	closed bool
}

// A Permit is the place of one request in all pools of its cap. Release gives it back.
type Permit struct {
	c        *Controller
	line     *line
	released bool
}

// New returns a controller of pools, whose names and members have to be canonical, as they are in what package
// manifest returns. It does not keep p.
func New(p manifest.Pools) *Controller {
	c := &Controller{lines: map[string]*line{}}
	c.Configure(p)
	return c
}

// Acquire waits until every pool of a cap has room and it is the request's turn, and takes a place in each of them.
// The cap is the URN of one that the cartridge has; canonical text is found fastest. The caller has to
// release the permit.
//
// It fails with the cause of ctx when that ends first, with ErrNoPool when the cap has no pool, with
// ErrUnavailable in an outage that is older than Grace, and with ErrClosed.
func (c *Controller) Acquire(ctx context.Context, cap string) (*Permit, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	permit, w, err := c.enter(cap)
	if w == nil {
		return permit, err
	}
	select {
	case <-w.done:
		return w.permit, w.err
	case <-ctx.Done():
		c.abandon(w)
		return nil, context.Cause(ctx)
	}
}

// enter lets a request in, or puts it into its line.
func (c *Controller) enter(cap string) (*Permit, *waiter, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.lineOf(cap)
	if err != nil {
		return nil, nil, err
	}
	if c.letsIn(l) {
		return c.admit(l), nil, nil
	}
	w := &waiter{line: l, done: make(chan struct{})}
	c.append(w)
	c.walk()
	return nil, w, nil
}

// TryAcquire is Acquire for who does not wait: it reports false where Acquire would wait or fail.
func (c *Controller) TryAcquire(cap string) (*Permit, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, err := c.lineOf(cap)
	if err != nil || c.outage.on {
		return nil, false
	}
	if c.letsIn(l) {
		return c.admit(l), true
	}
	if !l.fits() {
		return nil, false
	}
	w := &waiter{line: l, done: make(chan struct{})}
	c.append(w)
	c.walk()
	if w.permit == nil {
		c.remove(w)
	}
	return w.permit, w.permit != nil
}

// lineOf returns the line of a cap that can get in, now or later.
func (c *Controller) lineOf(cap string) (*line, error) {
	if c.closed {
		return nil, ErrClosed
	}
	l := c.lines[cap]
	if l == nil {
		if parsed, err := caps.Parse(cap); err == nil {
			l = c.lines[parsed.String()]
		}
	}
	switch {
	case l == nil || !l.known:
		return nil, ErrNoPool
	case c.outage.over:
		return nil, ErrUnavailable
	}
	return l, nil
}

// abandon takes back a request whose caller waits no longer.
func (c *Controller) abandon(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case w.permit != nil:
		w.permit.release()
	case w.err == nil:
		c.remove(w)
		c.walk()
	}
}

// Release gives the places back. Any call but the first does nothing.
func (p *Permit) Release() {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	p.release()
}

func (p *Permit) release() {
	if p.released {
		return
	}
	p.released = true
	p.c.leave(p.line)
}

// Close makes all who wait, and all who come, fail with ErrClosed. Permits can be released afterwards. It may be
// called again.
func (c *Controller) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.outage.end()
	c.fail(ErrClosed)
}

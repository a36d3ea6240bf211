// Package admission lets requests in to a cartridge, as many at a time as its pools have room for.
package admission

import (
	"context"
	"errors"
	"time"

	"github.com/cosim-go/cosim/relay/manifest"
)

// DefaultGrace is how long requests wait for a cartridge that is away.
const DefaultGrace = 60 * time.Second

// Errors of a Controller.
var (
	ErrNoPool      = errors.New("no pool lets requests for this cap in")
	ErrUnavailable = errors.New("the cartridge is away")
	ErrUnknownPool = errors.New("unknown pool")
	ErrClosed      = errors.New("admission has ended")
)

// A Controller lets requests in. All methods are safe for concurrent use.
type Controller struct {
	// Grace is how long after the start of an outage requests wait for its end; 0 is DefaultGrace. It must not
	// change after the first Suspend.
	Grace time.Duration
}

// A Permit is the place of one request in all pools of its cap.
type Permit struct{}

// New returns a controller of pools, whose names and members are canonical. It does not keep p.
func New(p manifest.Pools) *Controller { return &Controller{} }

// Configure replaces the pools. Requests that were let in stay, and wait those that did; who fits now is let in.
// Requests for a cap that lost its pool fail with ErrNoPool. It does not keep p.
func (c *Controller) Configure(p manifest.Pools) {}

// Acquire waits until every pool of a cap has room and takes a place in all of them. The cap is a cap URN, best in
// canonical form. It fails with ErrNoPool, ErrUnavailable, ErrClosed, or the cause of ctx.
func (c *Controller) Acquire(ctx context.Context, cap string) (*Permit, error) { return nil, ErrNoPool }

// TryAcquire is Acquire for who does not wait. It also fails while others wait that come first.
func (c *Controller) TryAcquire(cap string) (*Permit, bool) { return nil, false }

// Release gives the places back. Any call but the first does nothing.
func (p *Permit) Release() {}

// Suspend begins an outage: nobody is let in, those who wait and come fail with ErrUnavailable from Grace after
// the beginning on. In an outage it does nothing.
func (c *Controller) Suspend() {}

// Resume ends an outage.
func (c *Controller) Resume() {}

// Close makes all who wait and come fail with ErrClosed. Permits can be released afterwards.
func (c *Controller) Close() {}

// Pools returns the pools with the requests that are active and wait.
func (c *Controller) Pools() manifest.Pools { return nil }

// SetAvailable sets what the cartridge can serve now in a pool; 0 is no bound. It fails with ErrUnknownPool.
func (c *Controller) SetAvailable(pool string, n uint64) error { return nil }

// SetConfigured sets the operator's numbers, 0 for no bound. When one of the names is unknown it changes nothing
// and fails with ErrUnknownPool. Caps may be spelled in any way.
func (c *Controller) SetConfigured(n map[string]uint64) error { return nil }

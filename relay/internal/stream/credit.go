package stream

import (
	"sync"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
)

// A Credit is what the receiver of a stream knows of its sender's credit. It is safe for concurrent use.
//
// The window is never smaller than the protocol's default, whatever was negotiated here: the two ends of a stream
// may be on links of different limits, and its sender starts with the credit of its own. Grants come in batches of half of
// what was negotiated.
type Credit struct {
	mu      sync.Mutex
	window  *flow.Window // nil until Limit
	early   uint64       // CHUNKs that came before Limit
	batch   uint64
	pending uint64 // consumed and not granted

	gathering bool // the first CHUNK of an item that is not whole came
	gathered  bool // and was consumed before a wait
}

// Limit says what was negotiated. It fails with flow.ErrCreditViolation when more has come already.
func (c *Credit) Limit(initial uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.window = flow.NewWindow(max(initial, frame.DefaultCredit))
	c.batch = max(1, initial/2)
	for range c.early {
		if err := c.window.Arrive(); err != nil {
			return err
		}
	}
	return nil
}

// Arrive counts a CHUNK that has come. It fails with flow.ErrCreditViolation when there was no credit for it.
func (c *Credit) Arrive() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.window == nil {
		c.early++
		return nil
	}
	return c.window.Arrive()
}

// Consume counts a CHUNK that has come as consumed and returns how many to grant now.
func (c *Credit) Consume() (grant uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if grant := c.window.Consume(); grant > 0 {
		c.pending = 0
		return grant
	}
	c.pending++
	if c.pending < c.batch {
		return 0
	}
	c.pending = 0
	return c.window.Flush()
}

// Continue counts a piece of an item that another CHUNK began as consumed; it is granted at once.
func (c *Credit) Continue() (grant uint64) { return c.window.Continue() }

// Gather says that a CHUNK came that begins an item and is not all of it. It counts as consumed when the item is,
// or before a wait: a sender may have had credit for no more.
func (c *Credit) Gather() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gathering = true
}

// Whole says that an item is whole, and reports whether its first CHUNK is still to be consumed.
func (c *Credit) Whole() (held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	held = !c.gathered
	c.gathering, c.gathered = false, false
	return held
}

// Flush returns how many to grant before a wait.
func (c *Credit) Flush() (grant uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = 0
	if c.window == nil {
		return 0
	}
	if c.gathering {
		c.gathering, c.gathered = false, true
		grant = c.window.Continue()
	}
	return grant + c.window.Flush()
}

// Drain counts all that has come as consumed and returns how many to grant now.
func (c *Credit) Drain() (grant uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = 0
	if c.window == nil {
		return 0
	}
	for {
		n := c.window.Continue()
		if n == 0 {
			return grant + c.window.Flush()
		}
		grant += n
	}
}

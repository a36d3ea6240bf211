package admission

import "context"

// A Place is a request's turn: it was let in, or stands in its line. Whoever has one waits for it, once.
type Place struct {
	c      *Controller
	permit *Permit
	w      *waiter // nil when nobody has to wait
	err    error
}

// Enter is the part of Acquire that does not wait: it decides the request's turn. It is for who reads requests one after
// the other, and lets others wait for them.
func (c *Controller) Enter(cap string) Place {
	permit, w, err := c.enter(cap)
	return Place{c, permit, w, err}
}

// Waits reports whether the request had to wait when it entered.
func (p Place) Waits() bool { return p.w != nil }

// Wait is the rest of Acquire. When ctx ends first the request leaves its line.
func (p Place) Wait(ctx context.Context) (*Permit, error) {
	if p.w == nil {
		return p.permit, p.err
	}
	select {
	case <-p.w.done:
		return p.w.permit, p.w.err
	case <-ctx.Done():
		p.c.abandon(p.w)
		return nil, context.Cause(ctx)
	}
}

package admission

import "time"

// An outage is a time in which the cartridge is away.
type outage struct {
	on    bool
	over  bool // it has lasted for longer than anybody waits
	timer *time.Timer
}

// end ends the outage, if there is one.
func (o *outage) end() {
	if o.timer != nil {
		o.timer.Stop()
	}
	*o = outage{}
}

// Suspend begins an outage: nobody is let in. Those who wait stay, and those who come wait, until Grace after the
// beginning; from then on all of them fail with ErrUnavailable. In an outage it does nothing.
func (c *Controller) Suspend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outage.on || c.closed {
		return
	}
	grace := c.Grace
	if grace == 0 {
		grace = DefaultGrace
	}
	var timer *time.Timer
	timer = time.AfterFunc(grace, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.outage.timer == timer {
			c.outage.over = true
			c.fail(ErrUnavailable)
		}
	})
	c.outage = outage{on: true, timer: timer}
}

// Resume ends an outage, if there is one, and lets in who fits.
func (c *Controller) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.outage.on {
		return
	}
	c.outage.end()
	c.walk()
}

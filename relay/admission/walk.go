package admission

// Between two calls of a Controller nobody waits who could be let in, unless there is an outage: every method
// that makes room sees to that before it unlocks.

// letsIn reports whether a request that comes now gets in without any look at those who wait: nobody does, or none of
// them could keep a place in its pools. Whoever waits in its own line does not fit, nor does it then.
func (c *Controller) letsIn(l *line) bool {
	return !c.outage.on && (len(c.heads) == 0 || !l.shares()) && l.fits()
}

// admit takes a place in each pool of a line's chain.
func (c *Controller) admit(l *line) *Permit {
	l.active++
	for _, p := range l.chain {
		p.active++
	}
	return &Permit{c: c, line: l}
}

// leave gives back a place in each pool of a line's chain, and lets in who fits now.
func (c *Controller) leave(l *line) {
	alone := !l.shares() && c.all != nil && c.all.room()
	l.active--
	for _, p := range l.chain {
		p.active--
	}
	if alone {
		c.drain(l)
		return
	}
	c.walk()
}

// drain lets in who fits of a line that shares no pool but all.
func (c *Controller) drain(l *line) {
	for !c.outage.on && l.first != nil && l.fits() {
		c.admitFirst(l)
	}
}

func (c *Controller) admitFirst(l *line) {
	w := l.first
	c.remove(w)
	w.permit = c.admit(l)
	close(w.done)
}

// walk lets in who fits, the oldest first. Who lacks room in shared pools only keeps a place in each of the
// declared ones.
func (c *Controller) walk() {
	if c.outage.on {
		return
	}
	passed := 0 // over
	for passed < len(c.heads) && c.all.room() {
		l := c.heads[passed]
		if l.fits() {
			c.admitFirst(l) // the line moves back, or goes
			continue
		}
		l.keep()
		passed++
	}
	for _, l := range c.heads[:passed] {
		l.forget()
	}
}

// keep keeps a place in each declared pool, if the cap's own pool has room.
func (l *line) keep() {
	if l.shares() && l.chain[0].room() {
		for _, p := range l.declared() {
			p.kept++
		}
	}
}

// forget ends what keep did.
func (l *line) forget() {
	if l.shares() {
		for _, p := range l.declared() {
			p.kept = 0
		}
	}
}

func (l *line) declared() []*pool { return l.chain[1 : len(l.chain)-1] }

package admission

import (
	"cmp"
	"slices"

	"github.com/cosim-go/cosim/relay/manifest"
)

// A pool is a bound that the requests of some caps share.
type pool struct {
	state  manifest.PoolState // but for Active and Queued
	bound  uint64             // 0 is none
	active uint64
	kept   uint64 // places that are kept, while walk goes on
}

func (p *pool) room() bool { return p.bound == 0 || p.active+p.kept < p.bound }

// A line is where the requests for one cap wait.
type line struct {
	chain       []*pool // the cap's own pool, declared ones, all; when not known, all alone if there is one
	known       bool    // whether the cap has a pool
	active      uint64
	first, last *waiter
	waiting     uint64
}

// fits reports whether all pools of the chain have room.
func (l *line) fits() bool {
	for _, p := range l.chain {
		if !p.room() {
			return false
		}
	}
	return true
}

// shares reports whether the cap is in a declared pool.
func (l *line) shares() bool { return len(l.chain) > 2 }

// A waiter is a request that waits in a line.
type waiter struct {
	line       *line
	prev, next *waiter
	age        uint64 // the lower the older
	done       chan struct{}
	permit     *Permit // these two are set before done is closed
	err        error
}

// append puts a waiter at the end of its line.
func (c *Controller) append(w *waiter) {
	c.age++
	w.age = c.age
	l := w.line
	l.waiting++
	w.prev = l.last
	l.last = w
	if w.prev == nil {
		l.first = w
		c.heads = append(c.heads, l)
	} else {
		w.prev.next = w
	}
}

// remove takes a waiter out of its line.
func (c *Controller) remove(w *waiter) {
	l := w.line
	if w.prev == nil {
		c.removeHead(l)
		l.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		l.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	l.waiting--
	if w.prev == nil && l.first != nil {
		i, _ := slices.BinarySearchFunc(c.heads, l.first.age, byAge)
		c.heads = slices.Insert(c.heads, i, l)
	}
}

func (c *Controller) removeHead(l *line) {
	i, _ := slices.BinarySearchFunc(c.heads, l.first.age, byAge)
	c.heads = slices.Delete(c.heads, i, i+1)
}

func byAge(l *line, age uint64) int { return cmp.Compare(l.first.age, age) }

// fail sends all away who wait.
func (c *Controller) fail(err error) {
	for _, l := range c.heads {
		l.fail(err)
	}
	c.heads = nil
}

// fail sends all away who wait in the line, which is a head no longer.
func (l *line) fail(err error) {
	for w := l.first; w != nil; w = w.next {
		w.err = err
		close(w.done)
	}
	l.first, l.last, l.waiting = nil, nil, 0
}

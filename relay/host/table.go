package host

import (
	"maps"
	"slices"
	"time"

	"github.com/cosim-go/cosim/relay/flow"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/stats"
)

// How full a table gets, in entries. A table only gets that full where requests never end.
const (
	softMark = 6553         // from here on the oldest are given up, at the next tick
	hardMark = 8192         // no table has more
	share    = softMark / 4 // how many that are
)

// Tables are what a host knows of running requests. Entries carry the time of their last use, as the number of uses so far.
type tables struct {
	incoming map[flow.Key]*request
	byRID    map[frame.ID]*request // those of incoming, the newest of an id
	outgoing map[frame.ID]*peerCall
	flows    map[flow.Key]*order // of frames from cartridges
	ended    *stats.Ended

	uses      uint64
	sweeps    uint64 // times that a table was too full
	evicted   uint64 // entries that this took
	evictions uint64 // since somebody asked last
}

func newTables() tables {
	return tables{
		incoming: map[flow.Key]*request{}, byRID: map[frame.ID]*request{}, outgoing: map[frame.ID]*peerCall{},
		flows: map[flow.Key]*order{}, ended: stats.NewEnded(time.Now),
	}
}

// A request came from the relay, for a cartridge here. It is there until its response and its body have both ended.
type request struct {
	key        flow.Key
	owner      *cartridge
	generation uint64 // of the process that serves it
	bodyDone   bool   // the end of the body was handed over, or will never come
	answered   bool   // the end of the response has passed
	children   map[frame.ID]struct{}
	call       *peerCall // when a cartridge here has made it
	used       uint64
}

// A peerCall is a request that a cartridge here has made, until its response has ended.
type peerCall struct {
	id         frame.ID
	owner      *cartridge
	generation uint64
	parent     *request // that it is made for; nil for none
	bodySent   bool     // the end of its body has passed
	loop       loop
	used       uint64
}

// entry is what tables hold.
type entry interface{ lastUse() uint64 }

func (r *request) lastUse() uint64  { return r.used }
func (c *peerCall) lastUse() uint64 { return c.used }
func (o *order) lastUse() uint64    { return o.used }

// now counts a use.
func (t *tables) now() uint64 {
	t.uses++
	return t.uses
}

// find returns the request with a key, and counts the use.
func (t *tables) find(k flow.Key) *request {
	r := t.incoming[k]
	if r != nil {
		r.used = t.now()
	}
	return r
}

// findCall returns the peer call with an id, and counts the use.
func (t *tables) findCall(id frame.ID) *peerCall {
	c := t.outgoing[id]
	if c != nil {
		c.used = t.now()
	}
	return c
}

func (t *tables) add(r *request) {
	makeRoom(t, t.incoming, t.evict)
	r.used = t.now()
	t.incoming[r.key], t.byRID[r.key.RID] = r, r
}

func (t *tables) addCall(c *peerCall) {
	makeRoom(t, t.outgoing, t.evictCall)
	c.used = t.now()
	t.outgoing[c.id] = c
	if p := c.parent; p != nil {
		if p.children == nil {
			p.children = map[frame.ID]struct{}{}
		}
		p.children[c.id] = struct{}{}
	}
}

// release forgets a request that has ended.
func (t *tables) release(r *request) {
	t.evict(r)
	t.ended.Add(r.key.RID)
	if r.call != nil && t.outgoing[r.call.id] != r.call {
		delete(t.flows, flow.Key{RID: r.call.id})
	}
}

// releaseCall forgets a peer call that has ended. Its body may never end: the numbers of that are forgotten too, unless
// a handler here waits for the rest.
func (t *tables) releaseCall(c *peerCall) {
	t.evictCall(c)
	t.ended.Add(c.id)
	if r := t.byRID[c.id]; r == nil || r.call != c {
		delete(t.flows, flow.Key{RID: c.id})
	}
}

func (t *tables) evict(r *request) {
	if r.call != nil {
		r.call.loop.bodyDone = r.bodyDone
	}
	delete(t.incoming, r.key)
	if t.byRID[r.key.RID] == r {
		delete(t.byRID, r.key.RID)
	}
}

func (t *tables) evictCall(c *peerCall) {
	delete(t.outgoing, c.id)
	if c.parent != nil {
		delete(c.parent.children, c.id)
	}
}

// makeRoom makes room for one more in a table that is full.
func makeRoom[K comparable, E entry](t *tables, m map[K]E, evict func(E)) {
	if len(m) >= hardMark {
		t.evictOldest(entries(m), len(m)-softMark, func(e entry) { evict(e.(E)) })
	}
}

// sweep gives up the oldest entries of tables that are above the soft mark.
func (t *tables) sweep() {
	if len(t.incoming) >= softMark {
		t.evictOldest(entries(t.incoming), share, func(e entry) { t.evict(e.(*request)) })
	}
	if len(t.outgoing) >= softMark {
		t.evictOldest(entries(t.outgoing), share, func(e entry) { t.evictCall(e.(*peerCall)) })
	}
	if len(t.flows) >= softMark {
		t.evictOldest(entries(t.flows), share, func(e entry) { delete(t.flows, e.(*order).key) })
	}
}

// entries returns the values of a table.
func entries[K comparable, E entry](m map[K]E) []entry {
	all := make([]entry, 0, len(m))
	for e := range maps.Values(m) {
		all = append(all, e)
	}
	return all
}

// evictOldest gives up the n entries that were not used for the longest time.
func (t *tables) evictOldest(all []entry, n int, evict func(entry)) {
	slices.SortFunc(all, func(a, b entry) int {
		switch {
		case a.lastUse() < b.lastUse():
			return -1
		case a.lastUse() > b.lastUse():
			return 1
		}
		return 0
	})
	for _, e := range all[:n] {
		evict(e)
	}
	t.sweeps++
	t.evicted += uint64(n)
	t.evictions += uint64(n)
}

// parents returns how many requests have peer calls that run.
func (t *tables) parents() (n int) {
	for _, r := range t.incoming {
		if len(r.children) > 0 {
			n++
		}
	}
	return n
}

package flow

// An Ended remembers the flows that ended last, so that frames which come too late are known
// for what they are. It allocates only to hold more flows than ever before. It is not safe for
// concurrent use. The zero value remembers nothing.
type Ended struct {
	flows store[struct{}]
	max   int
}

// NewEnded returns a memory of max flows, none for 0 and less. Above it the one that was added
// first is forgotten.
func NewEnded(max int) *Ended { return &Ended{max: max} }

// Add remembers a flow.
func (e *Ended) Add(k Key) {
	if e.max <= 0 {
		return
	}
	if place := e.flows.find(&k.RID, &k.XID); place != 0 {
		e.flows.touch(place, resting)
		return
	}
	if e.flows.len() >= e.max {
		e.flows.remove(e.flows.oldest(resting))
	}
	e.flows.add(&k, resting)
}

// Has reports whether a flow is remembered.
func (e *Ended) Has(k Key) bool { return e.flows.find(&k.RID, &k.XID) != 0 }

// Remove forgets a flow. One that is not remembered is none.
func (e *Ended) Remove(k Key) {
	if place := e.flows.find(&k.RID, &k.XID); place != 0 {
		e.flows.remove(place)
	}
}

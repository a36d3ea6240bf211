package flow

import "github.com/cosim-go/cosim/relay/frame"

// AssignerOptions are the options of [NewSeqAssigner]. The zero value has the defaults.
type AssignerOptions struct {
	// MaxFlows is how many flows are remembered. Above it the one not numbered for the longest
	// time is forgotten: a request that was cancelled may never see the END that would remove
	// it. 0 and less is 8192.
	MaxFlows int
}

// AssignerStats is what a [SeqAssigner] counts.
type AssignerStats struct {
	Flows          int    // remembered now
	ForgottenFlows uint64 // given up because there were too many
}

// A SeqAssigner numbers the frames of each flow from 0, at the last writer before a wire. The
// zero value is one with the default options.
//
// It is not safe for concurrent use, and a lock of its own would not help: Assign, the write
// and, for a terminal, Remove have to be one step under the connection's lock. Otherwise two
// senders swap their frames, or a frame gets a number of a flow that has ended.
type SeqAssigner struct {
	flows    store[uint64] // the next number
	maxFlows int
	stats    AssignerStats
}

// NewSeqAssigner returns an assigner that knows no flow. No options are the defaults.
func NewSeqAssigner(o *AssignerOptions) *SeqAssigner {
	if o == nil {
		o = &AssignerOptions{}
	}
	return &SeqAssigner{maxFlows: o.MaxFlows}
}

// Assign sets the number of a frame that belongs to a flow. Any other frame stays as it is.
func (a *SeqAssigner) Assign(f *frame.Frame) {
	if !f.Type.Flow() {
		return
	}
	f.Seq = a.Next(Key{f.ID, f.RoutingID})
}

// Next returns the number of the next frame of a flow, which is then used up. It is Assign for a
// frame of which only the head was read.
func (a *SeqAssigner) Next(k Key) uint64 {
	place := a.flows.find(&k.RID, &k.XID)
	if place == 0 {
		a.makeRoom()
		place = a.flows.add(&k, resting)
	} else {
		a.flows.touch(place, resting)
	}
	next := &a.flows.slots[place].value
	*next++
	return *next - 1
}

// TakeBack takes back the number that was given last in a flow: its frame is not written.
func (a *SeqAssigner) TakeBack(k Key) {
	place := a.flows.find(&k.RID, &k.XID)
	if place == 0 {
		return
	}
	if next := &a.flows.slots[place].value; *next > 1 {
		*next--
	} else {
		a.flows.remove(place)
	}
}

func (a *SeqAssigner) makeRoom() {
	if a.maxFlows <= 0 {
		a.maxFlows = defaultMaxFlows
	}
	if a.flows.len() >= a.maxFlows {
		a.flows.remove(a.flows.oldest(resting))
		a.stats.ForgottenFlows++
	}
}

// Remove forgets a flow. It is to be called right after an END or ERR was written; the next
// frame of the same ids is number 0 again. A flow that is unknown is none.
func (a *SeqAssigner) Remove(k Key) {
	if place := a.flows.find(&k.RID, &k.XID); place != 0 {
		a.flows.remove(place)
	}
}

// Stats returns what is remembered and counted.
func (a *SeqAssigner) Stats() AssignerStats {
	s := a.stats
	s.Flows = a.flows.len()
	return s
}

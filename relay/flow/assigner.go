package flow

import "github.com/cosim-go/cosim/relay/frame"

// AssignerOptions are the options of [NewSeqAssigner]. The zero value has the defaults.
type AssignerOptions struct {
	// MaxFlows is how many flows are remembered. 0 is 8192.
	MaxFlows int
}

// AssignerStats is what a [SeqAssigner] counts.
type AssignerStats struct {
	Flows          int    // remembered now
	ForgottenFlows uint64 // flows given up because there were too many
}

// A SeqAssigner numbers the frames of each flow, from 0.
type SeqAssigner struct {
	next map[Key]uint64
}

// NewSeqAssigner returns an assigner that knows no flow. No options are the defaults.
func NewSeqAssigner(o *AssignerOptions) *SeqAssigner { return &SeqAssigner{} }

// Assign sets the number of a frame that belongs to a flow and leaves any other alone.
func (a *SeqAssigner) Assign(f *frame.Frame) {
	if !f.Type.Flow() {
		return
	}
	if a.next == nil {
		a.next = map[Key]uint64{}
	}
	k := KeyOf(f.Head())
	f.Seq = a.next[k]
	a.next[k]++
}

// Remove forgets a flow, after its END or ERR was written.
func (a *SeqAssigner) Remove(k Key) { delete(a.next, k) }

// Stats returns the counts.
func (a *SeqAssigner) Stats() AssignerStats { return AssignerStats{Flows: len(a.next)} }

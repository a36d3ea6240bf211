package stats

import "slices"

// A Reason says why a frame was dropped.
type Reason string

// The reasons.
const (
	NoRoute         Reason = "no_route"         // its request is not known here, nor did it end lately
	ChannelClosed   Reason = "channel_closed"   // whoever it was for has gone
	CreditViolation Reason = "credit_violation" // a CHUNK that its sender had no credit for
	Cancelled       Reason = "cancelled"        // its request was cancelled
	MasterDied      Reason = "master_died"      // the master that it was for is lost
)

var reasons = [...]Reason{NoRoute, ChannelClosed, CreditViolation, Cancelled, MasterDied}

// index returns the reason's place in reasons, and panics when it has none.
func (r Reason) index() int {
	i := slices.Index(reasons[:], r)
	if i < 0 {
		panic("stats: " + string(r) + " is no reason for a drop")
	}
	return i
}

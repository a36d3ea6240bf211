package stats

import (
	"maps"

	"github.com/cosim-go/cosim/relay/frame"
)

// A Kind is how a request ended.
type Kind string

// The kinds of ends.
const (
	KindEnd        Kind = "end"         // with the END of its response
	KindErr        Kind = "err"         // with an ERR
	KindCancelled  Kind = "cancelled"   // by a cancel
	KindMasterDied Kind = "master_died" // with the master that served it
)

// Terminated is a request that has ended, with the sums of its streams.
type Terminated struct {
	XID          frame.ID `json:"xid"`
	RID          frame.ID `json:"rid"`
	Kind         Kind     `json:"kind"`
	CancelCode   string   `json:"cancel_code,omitempty"`   // these three only for KindCancelled: see Cancelled
	CancelClass  string   `json:"cancel_class,omitempty"`  // as in [frame.Attribution.String]
	CancelReason string   `json:"cancel_reason,omitempty"` // for people
	IsPeer       bool     `json:"is_peer"`
	CapURN       string   `json:"cap_urn"`
	LifetimeMS   uint64   `json:"lifetime_ms"` // milliseconds
	FramesIn     uint64   `json:"frames_in"`
	FramesOut    uint64   `json:"frames_out"`
	BytesIn      uint64   `json:"bytes_in"`
	BytesOut     uint64   `json:"bytes_out"`
}

// codeCancelled is the code of a cancel that has none.
const codeCancelled = "CANCELLED"

// Cancelled makes t the end of a request that was cancelled for the reason r, whose texts it copies. A
// reason without a code has the code CANCELLED; one without attribution or message stays so.
func (t *Terminated) Cancelled(r frame.CancelReason) {
	t.Kind = KindCancelled
	t.CancelCode, t.CancelClass, t.CancelReason = string(r.Code), r.Attribution.String(), string(r.Message)
	if t.CancelCode == "" {
		t.CancelCode = codeCancelled
	}
}

// History is what has ended: the 64 newest requests, and how many there were of each kind. The zero value is
// ready. It is not safe for concurrent use.
type History struct {
	ring   []Terminated // once full, the oldest is at next
	next   int
	byKind map[Kind]uint64
}

// Add takes note of a request that ended.
func (h *History) Add(t Terminated) {
	if h.byKind == nil {
		h.byKind = map[Kind]uint64{}
	}
	h.byKind[t.Kind]++
	if len(h.ring) < ringSize {
		h.ring = append(h.ring, t)
		return
	}
	h.ring[h.next] = t
	h.next = (h.next + 1) % ringSize
}

// Recent returns the newest requests, 64 at the most, the oldest first. The slice is the caller's.
func (h *History) Recent() []Terminated {
	recent := make([]Terminated, 0, len(h.ring))
	recent = append(recent, h.ring[h.next:]...)
	return append(recent, h.ring[:h.next]...)
}

// ByKind returns how many requests ended in each way, without zeros. The map is the caller's.
func (h *History) ByKind() map[Kind]uint64 { return object(maps.Clone(h.byKind)) }

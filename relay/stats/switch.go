package stats

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/cosim-go/cosim/relay/frame"
)

// Switch is what a switch says of its protocol.
type Switch struct {
	Requests   Requests        `json:"requests"`
	Drops      Drops           `json:"drops"`
	Stragglers Stragglers      `json:"stragglers"`
	Hosts      map[string]Host `json:"hosts"` // by the id of their master; without those that reported nothing yet
}

// MarshalJSON writes a map that is nil as an empty object.
func (s Switch) MarshalJSON() ([]byte, error) {
	type plain Switch
	s.Hosts = object(s.Hosts)
	return json.Marshal(plain(s))
}

// Requests are those that a switch carries and has carried.
type Requests struct {
	Active           []Active        `json:"active"`            // in the order of [Requests.Sort]
	RecentTerminated []Terminated    `json:"recent_terminated"` // the oldest first, at most 64
	TotalRegistered  uint64          `json:"total_registered"`
	TerminatedByKind map[Kind]uint64 `json:"terminated_by_kind"` // all of them, not only the recent ones; without zeros
}

// MarshalJSON writes slices that are nil as empty arrays and a nil map as an empty object.
func (r Requests) MarshalJSON() ([]byte, error) {
	type plain Requests
	r.Active, r.RecentTerminated = array(r.Active), array(r.RecentTerminated)
	r.TerminatedByKind = object(r.TerminatedByKind)
	return json.Marshal(plain(r))
}

// Sort puts the active requests in the order of their RIDs as texts, then of their XIDs as texts, and
// the streams of each in that of their ids, those without one first.
func (r *Requests) Sort() {
	slices.SortFunc(r.Active, func(a, b Active) int {
		return cmp.Or(cmp.Compare(a.RID.String(), b.RID.String()), cmp.Compare(a.XID.String(), b.XID.String()))
	})
	for i := range r.Active {
		slices.SortFunc(r.Active[i].Streams, Stream.compare)
	}
}

// A Phase is how far an active request is.
type Phase string

// The phases.
const (
	PhaseCreated   Phase = "created"   // it is registered, and no flow frame of it has come by
	PhaseStreaming Phase = "streaming" // at least one has
)

// Active is a request that a switch carries.
type Active struct {
	XID               frame.ID `json:"xid"`
	RID               frame.ID `json:"rid"`
	Phase             Phase    `json:"phase"`
	IsPeer            bool     `json:"is_peer"` // a cartridge made it
	CapURN            string   `json:"cap_urn"`
	OriginMaster      *int     `json:"origin_master"` // index of the master that it came from; nil for the engine
	DestinationMaster int      `json:"destination_master"`
	AgeMS             uint64   `json:"age_ms"`   // milliseconds since it was registered
	IdleMS            uint64   `json:"idle_ms"`  // milliseconds since its last frame
	Children          int      `json:"children"` // peer calls made under it, ended ones too
	Streams           []Stream `json:"streams"`
}

// MarshalJSON writes a slice that is nil as an empty array.
func (a Active) MarshalJSON() ([]byte, error) {
	type plain Active
	a.Streams = array(a.Streams)
	return json.Marshal(plain(a))
}

// Stream is what a switch saw of one stream of a request. Out is what went to the handler, in what came from it; bytes
// are those of payloads.
type Stream struct {
	StreamID          *string `json:"stream_id"` // nil for frames of no stream: REQ, END, ERR, LOG
	FramesIn          uint64  `json:"frames_in"`
	FramesOut         uint64  `json:"frames_out"`
	BytesIn           uint64  `json:"bytes_in"`
	BytesOut          uint64  `json:"bytes_out"`
	ChunksIn          uint64  `json:"chunks_in"`
	ChunksOut         uint64  `json:"chunks_out"`
	CreditOutstanding int64   `json:"credit_outstanding"` // initial credit, minus the chunks, plus the grants seen; below 0 somebody overran
	Unbounded         bool    `json:"unbounded"`
	Ended             bool    `json:"ended"` // its STREAM_END was seen
}

func (s Stream) compare(t Stream) int {
	switch {
	case s.StreamID == nil && t.StreamID == nil:
		return 0
	case s.StreamID == nil:
		return -1
	case t.StreamID == nil:
		return 1
	}
	return cmp.Compare(*s.StreamID, *t.StreamID)
}

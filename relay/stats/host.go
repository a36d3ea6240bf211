package stats

// Host is what a host says of its protocol in its RELAY_NOTIFY.
type Host struct {
	Drops              Drops      `json:"drops"`
	Stragglers         Stragglers `json:"stragglers"`
	OutgoingRIDs       uint64     `json:"outgoing_rids"`            // peer calls of its cartridges that run
	IncomingRXIDs      uint64     `json:"incoming_rxids"`           // requests from the relay that run
	IncomingToPeerRIDs uint64     `json:"incoming_to_peer_rids"`    // requests that have made peer calls
	OutgoingMaxSeq     uint64     `json:"outgoing_max_seq"`         // flows whose highest number it keeps
	RoutingGCRuns      uint64     `json:"routing_gc_runs_total"`    // times that a full table was cleared of the oldest
	RoutingGCEvicted   uint64     `json:"routing_gc_evicted_total"` // entries that this took
}

package stats

import "encoding/json"

// Drops are the frames that were lost because something went wrong. What is zero has no entry.
type Drops struct {
	Total             uint64                       `json:"total"`
	ByReason          map[Reason]uint64            `json:"by_reason"`
	ByReasonFrameType map[Reason]map[string]uint64 `json:"by_reason_frame_type"` // types as in [frame.Type.String]
}

// MarshalJSON writes maps that are nil as empty objects.
func (d Drops) MarshalJSON() ([]byte, error) {
	type plain Drops
	d.ByReason, d.ByReasonFrameType = object(d.ByReason), object(d.ByReasonFrameType)
	return json.Marshal(plain(d))
}

// Stragglers are the frames that came after the end of their request, which is no fault. What is zero has
// no entry.
type Stragglers struct {
	Total       uint64            `json:"total"`
	ByFrameType map[string]uint64 `json:"by_frame_type"` // types as in [frame.Type.String]
}

// MarshalJSON writes a map that is nil as an empty object.
func (s Stragglers) MarshalJSON() ([]byte, error) {
	type plain Stragglers
	s.ByFrameType = object(s.ByFrameType)
	return json.Marshal(plain(s))
}

// object returns m, or an empty map for nil, which JSON would have as null.
func object[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}

// array returns s, or an empty slice for nil, which JSON would have as null.
func array[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

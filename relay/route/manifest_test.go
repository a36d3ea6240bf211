package route_test

import (
	"encoding/json"

	"github.com/cosim-go/cosim/relay/caps"
)

// A record is one of a manifest, as a test states it.
type record struct {
	id      string
	version string // "" is 1.0.0
	caps    []string
	running bool
	pools   map[string]int // bounds by pool; all and those of the caps are added
	failed  string         // kind of the attachment error
	bare    bool           // no runtime_stats
	active  int
}

func (r record) json() map[string]any {
	var described []any
	pools := map[string]any{}
	pool := func(name string) map[string]any {
		return map[string]any{"declared": r.pools[name], "configured": r.pools[name], "active": r.active, "queued": 0}
	}
	for _, urn := range r.caps {
		parsed, err := caps.Parse(urn)
		if err != nil {
			panic(err)
		}
		described = append(described, map[string]any{"urn": parsed.String(), "version": 0, "title": "T", "aliases": []string{"t"}})
		pools[parsed.String()] = pool(parsed.String())
	}
	pools["all"] = pool("all")
	if r.version == "" {
		r.version = "1.0.0"
	}
	out := map[string]any{
		"registry_url": nil, "channel": "release", "id": r.id, "version": r.version, "sha256": "",
		"cap_groups": []any{map[string]any{"name": "default", "caps": described, "adapter_urns": []string{}}},
		"lifecycle":  "operational",
	}
	if !r.bare {
		if !r.running {
			pools = map[string]any{}
		}
		out["runtime_stats"] = map[string]any{
			"running": r.running, "pools": pools, "active_request_count": r.active, "peer_request_count": 0,
			"memory_footprint_mb": 0, "memory_rss_mb": 0, "restart_count": 0,
		}
	}
	if r.failed != "" {
		out["attachment_error"] = map[string]any{"kind": r.failed, "message": "no", "detected_at_unix_seconds": 1}
	}
	return out
}

// recordsOf returns a manifest of records.
func recordsOf(records ...record) string {
	all := []any{}
	for _, r := range records {
		all = append(all, r.json())
	}
	text, err := json.Marshal(map[string]any{"installed_cartridges": all})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// jsonOf returns a manifest of records that are made already.
func jsonOf(records ...map[string]any) string {
	text, err := json.Marshal(map[string]any{"installed_cartridges": records})
	if err != nil {
		panic(err)
	}
	return string(text)
}

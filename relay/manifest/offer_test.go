package manifest_test

import (
	"reflect"
	"testing"

	"github.com/cosim-go/cosim/relay/manifest"
)

func running(pools string) string { return `,"runtime_stats":{` + stats + `,"pools":` + pools + `}` }

func cold(pools string) string {
	return `,"runtime_stats":{"running":false,"active_request_count":0,"peer_request_count":0,"memory_footprint_mb":0,
		"memory_rss_mb":0,"restart_count":0,"pools":` + pools + `}`
}

func TestAdmissionPools(t *testing.T) {
	one := manifest.PoolState{Configured: 1, Caps: []string{"cap:a", "cap:b"}}
	gpu := `{"declared":2,"configured":2,"available":3,"active":1,"queued":0,"caps":["cap:a"]}`
	for name, c := range map[string]struct {
		more string
		want manifest.Pools
	}{
		"no figures":        {"", nil},
		"running":           {running(`{"all":` + pool + `,"cap:a":` + pool + `}`), manifest.Pools{"all": {}, "cap:a": {}}},
		"running, no pools": {running(`{}`), manifest.Pools{}},
		"never started":     {cold(`{}`), manifest.Pools{"all": one, "cap:a": {}, "cap:b": {}}},
		"stopped": {cold(`{"all":{"declared":7,"configured":7,"available":9,"active":0,"queued":0,"caps":["cap:b"]},"gpu":` + gpu + `,"cap:a":` + gpu + `}`),
			manifest.Pools{
				"all":   {Declared: 7, Configured: 1, Caps: []string{"cap:a", "cap:b"}},
				"gpu":   {Declared: 2, Configured: 2, Available: ptr(3), Active: 1, Caps: []string{"cap:a"}},
				"cap:a": {Declared: 2, Configured: 2, Available: ptr(3), Active: 1, Caps: []string{"cap:a"}},
				"cap:b": {},
			}},
	} {
		r := parse(t, inventory(record("x", groups("cap:a", "cap:b", "cap:a")+c.more))).Records[0]
		if got := r.AdmissionPools(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: AdmissionPools = %+v, want %+v", name, got, c.want)
		}
	}
	r := manifest.Record{Stats: &manifest.RuntimeStats{Running: true}}
	if p := r.AdmissionPools(); p == nil || len(p) > 0 {
		t.Errorf("AdmissionPools of a record that runs without pools = %v, want empty, not nil", p)
	}
}

// A record that cannot be used neither offers caps nor keeps the others from being used.
func TestOffers(t *testing.T) {
	x, y := manifest.Install{Channel: "release", ID: "x", Version: "1"}, manifest.Install{Channel: "release", ID: "y", Version: "1"}
	v := parse(t, inventory(
		record("z", groups("cap:a")+failed),
		record("x", groups("cap:a", "cap:b")+failed),
		record("x", groups("cap:a", "cap:b")+running(`{"all":`+pool+`,"cap:a":`+pool+`}`)),
		record("y", groups("cap:b", "cap:c")),
		record("x", groups("cap:a")+cold(`{}`)),
	))
	want := []manifest.Offer{{Install: x, Pools: manifest.Pools{"all": {}, "cap:a": {}}}, {Install: y}}
	if got := v.Offers(); !reflect.DeepEqual(got, want) {
		t.Errorf("Offers = %+v, want %+v", got, want)
	}
	owners := map[string][]manifest.Install{"cap:a": {x}, "cap:b": {x, y}, "cap:c": {y}}
	if got := v.Owners(); !reflect.DeepEqual(got, owners) {
		t.Errorf("Owners = %v, want %v", got, owners)
	}
}

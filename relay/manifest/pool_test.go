package manifest_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

const pool = `{"declared":0,"configured":0,"active":0,"queued":0}`

func ptr(n uint64) *uint64 { return &n }

func TestEffective(t *testing.T) {
	for _, c := range []struct {
		configured uint64
		available  *uint64
		want       uint64
	}{
		{0, nil, 0}, {0, ptr(0), 0}, {0, ptr(3), 3}, {4, nil, 4}, {4, ptr(0), 4}, {4, ptr(3), 3}, {4, ptr(5), 4},
		{math.MaxUint64, ptr(math.MaxUint64), math.MaxUint64},
	} {
		s := manifest.PoolState{Declared: 9, Configured: c.configured, Available: c.available}
		if got := s.Effective(); got != c.want {
			t.Errorf("Effective of %+v = %d, want %d", s, got, c.want)
		}
	}
}

// Names and members are canonical, however they were spelled.
func TestPoolNamesAreCanonical(t *testing.T) {
	p, err := manifest.ParsePools([]byte(`{
		"CAP:B;a": ` + pool + `,
		"cap:in=\"media:\";c": ` + pool + `,
		"Gpu": {"declared":1,"configured":1,"active":0,"queued":0,"caps":["cap:b;a","cap:c;out=media:","cap:a;b","cap:\u0063"]},
		"all": ` + pool + `}`))
	if err != nil {
		t.Fatal(err)
	}
	want := manifest.Pools{
		"cap:a;b": {}, "cap:c": {}, "all": {},
		"Gpu": {Declared: 1, Configured: 1, Caps: []string{"cap:a;b", "cap:c"}},
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("ParsePools = %+v, want %+v", p, want)
	}
}

func TestRefusedPools(t *testing.T) {
	state := func(more string) string {
		return `{"all":{"declared":0,"configured":0,"active":0,"queued":0` + more + `}}`
	}
	for doc, want := range map[string]string{
		``:                       "pool map is no JSON at byte 0",
		`null`:                   "pool map is null, want an object",
		`[]`:                     "pool map is an array, want an object",
		`{"all":4}`:              "pool map: all is the number 4, want an object",
		`{"all":null}`:           "pool map: all is null, want an object",
		`{"all":{"declared":0}}`: "pool map: all.configured is missing",
		`{"all":` + pool + `,"all":` + pool + `}`:         "pool map: all occurs twice",
		`{"cap:a;b":` + pool + `,"cap:b;a":` + pool + `}`: `pool map["cap:b;a"] occurs twice, in two spellings`,
		`{"cap:a;a":` + pool + `}`:                        `pool map["cap:a;a"] is the pool of no cap: `,
		state(`,"declared":1`):                            "pool map: all.declared occurs twice",
		state(`,"caps":{}`):                               "pool map: all.caps is an object, want an array",
		state(`,"caps":["gpu"]`):                          `pool map: all.caps[0] is "gpu", which is no cap URN: `,
		state(`,"available":-1`):                          "pool map: all.available is -1, want a whole number from 0 to 2^64-1",
		state(`,"available":"1"`):                         "pool map: all.available is a text, want a whole number from 0 to 2^64-1",
		state(`,"available":true`):                        "pool map: all.available is a boolean, want",
		state(`,"available":1.0`):                         "pool map: all.available is 1.0, want",
		state(`,"available":1e3`):                         "pool map: all.available is 1e3, want",
		state(`,"available":-0`):                          "pool map: all.available is -0, want",
		state(`,"available":01`):                          "pool map: all is no JSON at byte",
		state(`,"available":18446744073709551616`):        "pool map: all.available is 18446744073709551616, want",
		state(`,"available":` + strings.Repeat("9", 200)): "pool map: all.available is 9999999999",
		state(`,"available":18446744073709551615`):        "",
		state(`,"available":null`):                        "",
		state(`,"available":9223372036854775808`):         "",
		state(`,"caps":null,"Caps":7`):                    "",
		`{}`:                                              "",
	} {
		_, err := manifest.ParsePools([]byte(doc))
		if want == "" && err != nil || want != "" && (!errors.Is(err, frame.ErrProtocol) || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("ParsePools(%s) = %v, want %s", doc, err, want)
		}
	}
}

func TestCapacities(t *testing.T) {
	got, err := manifest.ParseCapacities([]byte(`{"all":4,"CAP:B;a":0,"gpu":18446744073709551615}`))
	if want := (map[string]uint64{"all": 4, "cap:a;b": 0, "gpu": math.MaxUint64}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("ParseCapacities = %v, %v, want %v", got, err, want)
	}
	for doc, want := range map[string]string{
		`[]`:                        "capacities is an array, want an object",
		`{"all":1.0}`:               "capacities: all is 1.0, want",
		`{"all":-1}`:                "capacities: all is -1, want",
		`{"all":null}`:              "capacities: all is null, want",
		`{"all":1,"all":1}`:         "capacities: all occurs twice",
		`{"cap:a;b":1,"cap:b;a":1}`: `capacities["cap:b;a"] occurs twice, in two spellings`,
		`{"cap:a;a":1}`:             `capacities["cap:a;a"] is the pool of no cap: `,
	} {
		if _, err := manifest.ParseCapacities([]byte(doc)); !errors.Is(err, frame.ErrProtocol) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("ParseCapacities(%s) = %v, want %s", doc, err, want)
		}
	}
}

// What peers say that know no pools counts when pools are absent, and only then.
func TestPoolsOfOlderPeers(t *testing.T) {
	table := []*caps.Cap{mustCap(t, "cap:effect=none").URN, mustCap(t, "cap:b;a").URN, mustCap(t, "cap:a;b").URN}
	older := manifest.Pools{
		"all":             {Declared: 3, Configured: 3, Caps: []string{"cap:effect=none", "cap:a;b"}},
		"cap:effect=none": {}, "cap:a;b": {},
	}
	three := frame.Some[uint64](3)
	for name, c := range map[string]struct {
		pools    []byte
		capacity frame.Optional[uint64]
		want     manifest.Pools
		ok       bool
	}{
		"pools":           {[]byte(`{"all":` + pool + `}`), three, manifest.Pools{"all": {}}, true},
		"capacity":        {nil, three, older, true},
		"no bound":        {nil, frame.Some[uint64](0), manifest.PoolsFromCapacity(0, table), true},
		"neither":         {nil, frame.Optional[uint64]{}, nil, false},
		"malformed pools": {[]byte(`{"all":3}`), three, nil, false},
		"empty pools":     {[]byte{}, three, nil, false},
	} {
		got, err := manifest.PoolsOf(c.pools, c.capacity, table)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, frame.ErrProtocol) || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: PoolsOf = %+v, %v, want %+v", name, got, err, c.want)
		}
	}
	if got := older.Capacity(); got != 3 {
		t.Errorf("Capacity = %d, want 3", got)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	p := manifest.Pools{"all": {Available: ptr(1), Caps: []string{"cap:a"}}}
	c := p.Clone()
	*c["all"].Available, c["all"].Caps[0] = 2, "cap:b"
	if s := p["all"]; *s.Available != 1 || s.Caps[0] != "cap:a" {
		t.Errorf("Clone shares: %+v", s)
	}
}

func TestIsCapName(t *testing.T) {
	for name, want := range map[string]bool{"cap:": true, "CAP:x": true, "cap:!": true, "all": false, "cap": false, "": false, "gpu": false, "xcap:": false} {
		if got := manifest.IsCapName(name); got != want {
			t.Errorf("IsCapName(%q) = %v", name, got)
		}
	}
}

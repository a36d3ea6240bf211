package manifest_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/caps"
	"github.com/cosim-go/cosim/relay/manifest"
)

const identity = `{"urn":"cap:effect=none","title":"t","aliases":["a"]}`

// cartridge returns a manifest with identity, two caps and more.
func cartridge(more string) string {
	return `{"name":"n","version":"1","channel":"release","registry_url":null,"description":"","cap_groups":[{"name":"g","caps":[` +
		identity + `,{"urn":"cap:a;b","title":"t","aliases":["a"]},{"urn":"cap:c","title":"t","aliases":["a"]}]}]` + more + `}`
}

func declared(pools string) string { return cartridge(`,"pool_declarations":` + pools) }

func TestRefusedCartridges(t *testing.T) {
	for doc, want := range map[string]string{
		``:                                "manifest is no JSON at byte 0",
		`[]`:                              "manifest is an array, want an object",
		`{"version":"1","cap_groups":[]}`: "manifest: name is missing",
		`{"name":"n","cap_groups":[]}`:    "manifest: version is missing",
		`{"name":"n","version":"1"}`:      "manifest: cap_groups is missing",
		`{"name":"n","version":"1","cap_groups":null}`: "manifest: cap_groups is null, want an array",
		`{"name":"n","version":1}`:                     "manifest: version is the number 1, want a text",
		`{"name":null}`:                                "manifest: name is null, want a text",
		cartridge(`,"name":"m"`):                       "manifest: name occurs twice",
		cartridge(`,"pool_declarations":[]`):           "manifest: pool_declarations is an array, want an object",
		`{"channel":"beta"}`:                           `manifest: channel is "beta", want "release" or "nightly"`,
		`{"registry_url":1}`:                           "manifest: registry_url is the number 1, want a text",
		`{"name":"n","version":"1","cap_groups":[{"caps":[{"urn":"cap:x;x"}]}]}`: `manifest: cap_groups[0].caps[0].urn is "cap:x;x", which is no cap URN: `,
		declared(`{"pools":[]}`):                                  "manifest: pool_declarations.pools is an array, want an object",
		declared(`{"pools":{"p":"cap:c"}}`):                       "manifest: pool_declarations.pools.p is a text, want an array",
		declared(`{"pools":{"p":[1]}}`):                           "manifest: pool_declarations.pools.p[0] is the number 1, want a text",
		declared(`{"pools":{"p":["cap:c"],"p":["cap:c"]}}`):       "manifest: pool_declarations.pools.p occurs twice",
		declared(`{"pools":{"all":["cap:c"]}}`):                   "manifest: pool_declarations.pools.all is there by itself and cannot be declared",
		declared(`{"pools":{"CAP:c":["cap:c"]}}`):                 `manifest: pool_declarations.pools["CAP:c"] has the name of a cap`,
		declared(`{"pools":{"cap:zz":["cap:c"]}}`):                `manifest: pool_declarations.pools["cap:zz"] has the name of a cap`,
		declared(`{"pools":{"p":[]}}`):                            "manifest: pool_declarations.pools.p has no members",
		declared(`{"pools":{"p":["cap:a;b","cap:c","cap:b;a"]}}`): `manifest: pool_declarations.pools.p[2] is "cap:a;b", which is in the pool already`,
		declared(`{"pools":{"p":["cap:d"]}}`):                     `manifest: pool_declarations.pools.p[0] is "cap:d", which is no cap of the manifest`,
		declared(`{"pools":{"p":["c"]}}`):                         `manifest: pool_declarations.pools.p[0] is "c", which is no cap URN: `,
		declared(`{"capacities":{"p":1}}`):                        `manifest: pool_declarations.capacities.p is neither "all" nor a declared pool or cap: `,
		declared(`{"capacities":{"cap:d":1}}`):                    `manifest: pool_declarations.capacities["cap:d"] is neither`,
		declared(`{"capacities":{"cap:a;b":1,"cap:b;a":1}}`):      `manifest: pool_declarations.capacities["cap:b;a"] occurs twice, in two spellings`,
		declared(`{"capacities":{"all":1,"all":1}}`):              "manifest: pool_declarations.capacities.all occurs twice",
		declared(`{"capacities":{"all":-1}}`):                     "manifest: pool_declarations.capacities.all is -1, want",
		declared(`{"capacities":{"all":1.5}}`):                    "manifest: pool_declarations.capacities.all is 1.5, want",
	} {
		_, err := manifest.ParseCartridge([]byte(doc))
		var f *manifest.Fault
		if !errors.As(err, &f) || f.Kind != manifest.ManifestInvalid || !strings.HasPrefix(f.Message, want) {
			t.Errorf("ParseCartridge(%s) = %v, want %s", doc, err, want)
		}
	}
}

func TestCartridgeWithoutIdentityIsIncompatible(t *testing.T) {
	for _, groups := range []string{`[]`, `[{"name":"g","caps":[{"urn":"cap:a;effect=none","title":"t","aliases":["a"]}]}]`} {
		_, err := manifest.ParseCartridge([]byte(`{"name":"n","version":"1","cap_groups":` + groups + `}`))
		var f *manifest.Fault
		if !errors.As(err, &f) || f.Kind != manifest.Incompatible || !strings.Contains(f.Message, caps.Identity) {
			t.Errorf("ParseCartridge with groups %s = %v", groups, err)
		}
	}
}

func TestLenientCartridge(t *testing.T) {
	c, err := manifest.ParseCartridge([]byte(`{"name":"n","version":"1","channel":null,"description":null,"pool_declarations":null,
		"cap_groups":[{"name":"g","caps":[` + identity + `]}],"author":"Ada"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := manifest.Install{Channel: "release", ID: "n", Version: "1"}
	if c.Install() != want || c.Channel != "release" || string(c.Extra["author"]) != `"Ada"` {
		t.Errorf("ParseCartridge = %+v, install %+v, want %+v", c, c.Install(), want)
	}
}

func TestInitialPools(t *testing.T) {
	c, err := manifest.ParseCartridge([]byte(declared(`{"pools":{"gpu":["cap:c","cap:b;a"],"one":["cap:c"]},"capacities":{"gpu":2,"cap:b;a":3,"all":0}}`)))
	if err != nil {
		t.Fatal(err)
	}
	want := manifest.Pools{
		"cap:effect=none": {}, "cap:c": {},
		"cap:a;b": {Declared: 3, Configured: 3},
		"gpu":     {Declared: 2, Configured: 2, Caps: []string{"cap:c", "cap:a;b"}},
		"one":     {Caps: []string{"cap:c"}},
		"all":     {Caps: []string{"cap:effect=none", "cap:a;b", "cap:c"}},
	}
	if got := c.InitialPools(); !reflect.DeepEqual(got, want) {
		t.Errorf("InitialPools = %+v, want %+v", got, want)
	}
}

// A manifest that a program puts together is held to what a manifest that is read is.
func TestCheckOfAManifestThatWasNotRead(t *testing.T) {
	id, a := mustCap(t, "cap:effect=none"), mustCap(t, "cap:a")
	for name, c := range map[string]struct {
		groups []manifest.CapGroup
		pools  manifest.PoolDeclarations
		want   manifest.AttachmentKind
	}{
		"good":        {[]manifest.CapGroup{{Caps: []manifest.Cap{id, a}}}, manifest.PoolDeclarations{Pools: map[string][]string{"p": {"CAP:a"}}}, ""},
		"no identity": {[]manifest.CapGroup{{Caps: []manifest.Cap{a}}}, manifest.PoolDeclarations{}, manifest.Incompatible},
		"no URN":      {[]manifest.CapGroup{{Caps: []manifest.Cap{id, {Aliases: []string{"a"}}}}}, manifest.PoolDeclarations{}, manifest.ManifestInvalid},
		"no alias":    {[]manifest.CapGroup{{Caps: []manifest.Cap{id, {URN: a.URN}}}}, manifest.PoolDeclarations{}, manifest.ManifestInvalid},
		"two spellings": {[]manifest.CapGroup{{Caps: []manifest.Cap{id}}},
			manifest.PoolDeclarations{Capacities: map[string]uint64{"cap:effect=none": 1, "CAP:effect=none": 1}}, manifest.ManifestInvalid},
	} {
		m := &manifest.Cartridge{Name: name, Version: "1", Groups: c.groups, Pools: c.pools}
		err := m.Check()
		var f *manifest.Fault
		errors.As(err, &f)
		if got := (f == nil) == (c.want == "") && (f == nil || f.Kind == c.want); !got {
			t.Errorf("%s: Check = %v, want %s", name, err, c.want)
		}
		if err == nil {
			if _, err := manifest.ParseCartridge(m.AppendJSON(nil)); err != nil {
				t.Errorf("%s: read again: %v", name, err)
			}
		}
	}
}

func TestNewCap(t *testing.T) {
	c := mustCap(t, "cap:b;a")
	if c.URN.String() != "cap:a;b" || c.Title != "title" || fmt.Sprint(c.Aliases) != "[title]" {
		t.Errorf("NewCap = %+v", c)
	}
	if _, err := manifest.NewCap("cap:a;a", "t"); !errors.Is(err, caps.ErrDuplicateKey) {
		t.Errorf("NewCap of no cap = %v", err)
	}
	if _, err := manifest.NewCap("cap:a", ""); err == nil {
		t.Error("NewCap took a cap without a title")
	}
}

// Installs are values for the keys of maps, and have one order.
func TestInstall(t *testing.T) {
	list := []manifest.Install{
		{ID: "a", Version: "2", Channel: "release"},
		{ID: "b", Version: "1", Channel: "nightly"},
		{ID: "b", Version: "1", Channel: "release"},
		{ID: "b", Version: "1", Channel: "release", HasRegistry: true},
		{ID: "b", Version: "1", Channel: "release", HasRegistry: true, Registry: "r"},
		{ID: "b", Version: "1", Channel: "release", HasRegistry: true, Registry: "r", SHA256: "0"},
	}
	for i, a := range list {
		for j, b := range list {
			if got := a.Compare(b); (got < 0) != (i < j) || (got > 0) != (i > j) || (a == b) != (i == j) {
				t.Errorf("Compare(%+v, %+v) = %d", a, b, got)
			}
		}
	}
	if got := list[0].String(); got != "a 2 (release)" {
		t.Errorf("String = %s", got)
	}
}

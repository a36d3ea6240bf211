package relay_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/relay/frame"
	"github.com/cosim-go/cosim/relay/manifest"
)

// everything returns an inventory and the manifest of a cartridge in which no member is missing, as JSON.
func everything(t *testing.T) (inventory, cartridge string) {
	t.Helper()
	c, err := manifest.NewCap("cap:effect=none", "identity")
	if err != nil {
		t.Fatal(err)
	}
	n, when := uint64(1), int64(1)
	groups := []manifest.CapGroup{{Name: "g", Caps: []manifest.Cap{c}, AdapterURNs: []string{"media:x"}}}
	v := manifest.NewInventory([]manifest.Record{{
		Install: manifest.Install{Channel: manifest.ChannelRelease, ID: "x", Version: "1"}, Groups: groups, Lifecycle: manifest.LifecycleOperational,
		Stats: &manifest.RuntimeStats{
			Running: true, PID: &n, LastHeartbeat: &when, Drops: &n, Stragglers: &n, Overruns: &n,
			Pools: manifest.Pools{manifest.PoolAll: {Available: &n, Caps: []string{"cap:effect=none"}}},
		},
	}}, json.RawMessage("{}"))
	v.Records[0].AttachmentError = &manifest.AttachmentError{Kind: manifest.Disabled}
	m := manifest.Cartridge{Name: "x", Version: "1", Groups: groups, Pools: manifest.PoolDeclarations{
		Pools: map[string][]string{"p": {"cap:effect=none"}}, Capacities: map[string]uint64{"all": 1},
	}}
	return string(v.AppendJSON(nil)), string(m.AppendJSON(nil))
}

// at follows a path through objects and the first elements of arrays.
func at(v any, path string) map[string]any {
	for step := range strings.FieldsSeq(path) {
		if v = v.(map[string]any)[step]; v != nil {
			if list, ok := v.([]any); ok {
				v = list[0]
			}
		}
	}
	return v.(map[string]any)
}

// The page has the members of every document, and says which of them may be missing.
func TestProtocolPageNamesTheMembersOfDocuments(t *testing.T) {
	inventory, cartridge := everything(t)
	parseInventory := func(data []byte) error { _, err := manifest.ParseInventory(data); return err }
	parseCartridge := func(data []byte) error { _, err := manifest.ParseCartridge(data); return err }
	documents := map[string]struct {
		text, path string
		parse      func([]byte) error
	}{
		"inventory of a host":     {inventory, "", parseInventory},
		"record":                  {inventory, "installed_cartridges", parseInventory},
		"attachment error":        {inventory, "installed_cartridges attachment_error", parseInventory},
		"runtime stats":           {inventory, "installed_cartridges runtime_stats", parseInventory},
		"cap group":               {inventory, "installed_cartridges cap_groups", parseInventory},
		"cap":                     {inventory, "installed_cartridges cap_groups caps", parseInventory},
		"pool":                    {inventory, "installed_cartridges runtime_stats pools all", parseInventory},
		"manifest of a cartridge": {cartridge, "", parseCartridge},
		"pool declarations":       {cartridge, "pool_declarations", parseCartridge},
	}
	for _, row := range documentRows(t) {
		d, known := documents[row[0]]
		if !known {
			t.Fatalf("the page has an object %q", row[0])
		}
		delete(documents, row[0])
		var v any
		if err := json.Unmarshal([]byte(d.text), &v); err != nil {
			t.Fatal(err)
		}
		object := at(v, d.path)
		names := membersSaid(row[1])
		if got, want := slices.Sorted(maps.Keys(object)), slices.Sorted(maps.Keys(names)); !slices.Equal(got, want) {
			t.Errorf("%s has %q, the page has %q", row[0], got, want)
		}
		for name, optional := range names {
			value := object[name]
			delete(object, name)
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			err = d.parse(text)
			if missing := err != nil && strings.HasSuffix(err.Error(), name+" is missing"); missing == optional || optional && err != nil {
				t.Errorf("%s without %s: %v, the page says that it may be missing: %v", row[0], name, err, optional)
			}
			if !optional && !errors.Is(err, frame.ErrProtocol) && !errors.As(err, new(*manifest.Fault)) {
				t.Errorf("%s without %s: %v is of no kind", row[0], name, err)
			}
			object[name] = value
		}
	}
	if len(documents) > 0 {
		t.Errorf("the page lacks %q", slices.Collect(maps.Keys(documents)))
	}
}

// documentRows returns the rows of the table of documents.
func documentRows(t *testing.T) [][]string {
	t.Helper()
	_, section, found := strings.Cut(protocolPage(t), "\n## Manifests and pools\n")
	if !found {
		t.Fatal("no section of manifests and pools")
	}
	return cellsBelow(t, section, "| document | members |")
}

// membersSaid returns the members of a cell, and which of them are in brackets.
func membersSaid(cell string) map[string]bool {
	names := map[string]bool{}
	for _, part := range strings.FieldsFunc(cell, func(r rune) bool { return r == ';' || r == '(' || r == ')' }) {
		said, _, _ := strings.Cut(part, ":")
		for _, name := range texts(said) {
			names[name] = strings.Contains(cell, "("+part+")")
		}
	}
	return names
}

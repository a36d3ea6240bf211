package builtin_test

import (
	"slices"
	"testing"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/builtin"
	"github.com/cosim-go/cosim/topology"
)

// Requirements: D5, V5
func TestKinds(t *testing.T) {
	kinds := builtin.Table().Kinds()
	var names []string
	for _, k := range kinds {
		names = append(names, string(k.Role)+" "+k.Name)
		if k.Name == "qemu-vhost" && k.MaxDevices != 64 {
			t.Errorf("%s takes %d devices, want 64", k.Name, k.MaxDevices)
		}
		for _, p := range k.Params {
			if p.Doc == "" {
				t.Errorf("param %s of kind %s has no description", p.Name, k.Name)
			}
		}
	}
	want := []string{"device gem5-mi300x", "device qemu-device", "vhost qemu-vhost"}
	if !slices.Equal(names, want) {
		t.Errorf("Kinds = %q, want %q", names, want)
	}
	if again := builtin.Table().Kinds(); again[0] != kinds[0] {
		t.Error("two tables describe a kind differently")
	}
}

func TestForFindsTheAdapterOfAKind(t *testing.T) {
	table := builtin.Table()
	for _, k := range table.Kinds() {
		a := builtin.For(table, k)
		if a == nil || a.Kind() != k {
			t.Errorf("For(%s) = %v", k.Name, a)
		}
		_, vhost := a.(adapters.VhostAdapter)
		if vhost != (k.Role == topology.RoleVhost) {
			t.Errorf("the adapter of %s renders vhosts: %v", k.Name, vhost)
		}
	}
	template := &topology.Kind{Name: "mine", Template: &topology.Template{}}
	if a := builtin.For(table, template); a == nil || a.Kind() != template {
		t.Errorf("For(template) = %v", a)
	}
	if a := builtin.For(table, &topology.Kind{Name: "mine"}); a != nil {
		t.Errorf("For(unknown) = %v, want nil", a)
	}
}

// The codes are in order, so that a code stands in one place only.
func TestCodesAreSorted(t *testing.T) {
	for i, c := range adapters.Codes {
		if c.Name == "" || c.Doc == "" || i > 0 && adapters.Codes[i-1].Name >= c.Name {
			t.Errorf("code %d is %q", i, c)
		}
	}
}

package texts

import (
	"slices"
	"testing"

	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/placeholder"
)

func TestNamesLooksAtEveryField(t *testing.T) {
	one := func(s string) placeholder.Text { return placeholder.MustParse(s) }
	template := &topology.Template{
		Args:   []placeholder.Text{one("{{a}} {{b}}")},
		Env:    []topology.TextVar{{Name: "E", Value: one("{{g}}")}},
		Ready:  topology.Ready{Exec: []placeholder.Text{one("{{c}}")}, Socket: one("{{e}}"), File: one("x"), Log: one("{{f}}")},
		Attach: topology.Attach{Args: []placeholder.Text{one("{{d}}")}},
	}
	got := slices.Collect(Names(template))
	if want := []string{"a", "b", "c", "d", "e", "f", "g"}; !slices.Equal(got, want) {
		t.Errorf("Names = %q, want %q", got, want)
	}
	if !Has(template, "f") || Has(template, "x") {
		t.Error("Has finds what is not there, or not what is there")
	}
}

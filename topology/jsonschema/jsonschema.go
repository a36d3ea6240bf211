// Package jsonschema describes topology documents to editors: [Generate] makes a JSON
// Schema of the same tables that the loader checks documents with.
//
// A schema sees one document at a time. It knows nothing of other files, of the merge
// of templates or of totals, so what it accepts may still be refused by the loader;
// what the loader accepts, it accepts.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/schema"
)

// Draft is the dialect of the schemas that this package makes.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Generate makes the schema of a topology document as indented JSON, with the
// parameters and regions of the built-in kinds. Kinds that documents define keep their
// parameters free. The same kinds, in any order, give the same bytes. The error tells
// of a default of a kind that JSON has no form for.
func Generate(kinds []*topology.Kind) ([]byte, error) {
	g := generator{defs: map[string]object{}}
	for _, k := range kinds {
		if k.Template == nil {
			g.kinds = append(g.kinds, k)
		}
	}
	slices.SortFunc(g.kinds, func(a, b *topology.Kind) int { return strings.Compare(a.Name, b.Name) })
	root := object{
		{"$schema", Draft},
		{"title", "cosim topology"},
		{"description", schema.Document.Doc},
		{"$ref", g.section(schema.Document, whole)},
	}
	root = append(root, member{"$defs", g.definitions()})
	encoded, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("encoding the schema: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, encoded, "", "  "); err != nil {
		return nil, fmt.Errorf("indenting the schema: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// A generator collects the definitions of one schema.
type generator struct {
	kinds []*topology.Kind // built-in ones, by name
	defs  map[string]object
}

// define makes a definition once and gives the reference to it.
func (g *generator) define(name string, make func() object) string {
	if _, ok := g.defs[name]; !ok {
		g.defs[name] = nil // ends the recursion of a definition that refers to itself
		g.defs[name] = make()
	}
	return "#/$defs/" + name
}

func (g *generator) definitions() object {
	var all object
	for name, def := range g.defs {
		all = append(all, member{name, def})
	}
	slices.SortFunc(all, func(a, b member) int { return strings.Compare(a.key, b.key) })
	return all
}

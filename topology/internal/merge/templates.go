// Package merge resolves `use`: it finds the templates of a load, checks what refers to
// them, and merges them into the mappings that use them.
//
// Merging happens when a mapping is looked at, from the outside in: a `use` deeper
// inside is data until its own place is looked at.
package merge

import (
	"fmt"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/imports"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// Templates are the templates of one load, by name.
type Templates struct {
	context    *decode.Context
	byName     map[string]*Template
	inOrder    []*Template
	incomplete bool
	isKind     func(name string) bool
	allNames   []string
}

// A Template is a named mapping.
type Template struct {
	Name  string
	Value source.Value
	Used  bool // by what was resolved so far

	key    source.Value
	uses   []use          // of other templates, in any place of it
	state  state          // of the search for cycles
	broken bool           // part of a cycle
	merged *source.Object // its own chain; nil until it is needed
}

// A use is a reference to a template.
type use struct {
	at     source.Value
	target *Template
}

// Collect finds the templates of all documents, and checks every reference to one that
// is written anywhere: that it exists, and that none leads back to where it started.
// Where the documents are incomplete, templates that do not exist are not reported.
// A template that does not exist but is the name of a kind gets a hint.
func Collect(set *imports.Set, c *decode.Context, isKind func(name string) bool) *Templates {
	t := &Templates{context: c, byName: make(map[string]*Template), incomplete: set.Incomplete, isKind: isKind}
	for _, d := range set.Documents {
		if v := d.Fields.Get("templates"); v.Present() {
			c.Enter("templates")
			t.incomplete = !c.Fields(v, "mapping", t.add) || t.incomplete
			c.Leave()
		}
	}
	w := walker{templates: t, seen: make(map[any]bool)}
	for _, template := range t.inOrder {
		c.Enter("templates")
		c.Enter(template.Name)
		w.in = template
		w.place(template.Value, schema.Users()...)
		c.Leave()
		c.Leave()
	}
	w.in = nil
	for _, d := range set.Documents {
		w.machines(d.Fields.Get("machines"))
	}
	t.findCycles()
	return t
}

func (t *Templates) add(e source.Entry) {
	name, ok := t.context.Key(e)
	if !ok {
		t.incomplete = true
		return
	}
	if !e.Value.IsMapping() {
		t.context.WrongType(e.Value, "mapping")
		t.incomplete = true
		return
	}
	if first, known := t.byName[name]; known {
		if first.key.File() != e.Key().File() { // else the key is there twice, which has been reported
			t.context.Report(e.Key(), decode.Problem{
				Code:    schema.DuplicateTemplate,
				Message: fmt.Sprintf("template %q is defined twice", name),
				Related: []diag.Related{{Pos: first.key.Pos(), Message: fmt.Sprintf("%q is defined here", name)}},
			})
		}
		return
	}
	template := &Template{Name: name, Value: e.Value, key: e.Key()}
	t.byName[name] = template
	t.inOrder = append(t.inOrder, template)
}

// Unused lists the templates that nothing has used so far.
func (t *Templates) Unused() []*Template {
	var unused []*Template
	for _, template := range t.inOrder {
		if !template.Used {
			unused = append(unused, template)
		}
	}
	return unused
}

// find gives the template that a `use` names, and nil where there is none.
func (t *Templates) find(at source.Value) *Template {
	if !at.IsScalar() || at.Class() != source.Str {
		return nil
	}
	return t.byName[at.Text()]
}

// names lists all templates, once all of them are known.
func (t *Templates) names() []string {
	if t.allNames == nil {
		for _, template := range t.inOrder {
			t.allNames = append(t.allNames, template.Name)
		}
	}
	return t.allNames
}

// Has reports whether there is a template of this name.
func (t *Templates) Has(name string) bool { return t.byName[name] != nil }

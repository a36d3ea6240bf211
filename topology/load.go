package topology

import (
	"fmt"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/imports"
	"github.com/cosim-go/cosim/topology/internal/merge"
	"github.com/cosim-go/cosim/topology/internal/report"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// Load reads the document called name and all that it imports, and gives the model
// they describe. The list holds every problem found, sorted by position; the model is
// nil where it holds an error. Nil options mean the defaults.
func Load(src Source, name string, opts *Options) (*Model, diag.List) {
	documents, problems := Read(src, name, opts)
	merged, more := documents.Merge()
	problems = append(problems, more...)
	model, more := merged.Expand()
	problems = append(problems, more...)
	if problems.HasErrors() {
		return nil, problems.Sorted()
	}
	return model, problems.Sorted()
}

// Documents are the files of one load, as written.
type Documents struct {
	name   string
	kinds  []*Kind
	set    *imports.Set
	budget *source.Budget

	kindNames map[string]bool // nil until it is needed
}

// Read reads the document called name and, recursively, what it imports. A file is read
// once, however many ways lead to it. The result can be merged even where there are
// problems: what could not be read is then missing from it, and names that may have
// been in it are not reported as unknown.
func Read(src Source, name string, opts *Options) (*Documents, diag.List) {
	if opts == nil {
		opts = &Options{}
	}
	d := &Documents{name: name, kinds: opts.Kinds, budget: &source.Budget{}}
	open := func(path string) ([]byte, string, error) {
		document, err := src.Open(path)
		return document.Data, document.Canonical, err
	}
	sink := &report.Sink{}
	d.set = imports.Read(open, name, opts.Resources, d.budget, sink)
	return d, finish(sink, d.budget, false)
}

// Files lists every document that was read, in the order of reading.
func (d *Documents) Files() []string { return d.set.Names }

// Merged are documents whose templates are resolved: where a mapping uses one, what is
// seen of the mapping is the result of the merge.
type Merged struct {
	documents *Documents
	templates *merge.Templates
	context   *decode.Context
	exhausted bool
}

// Merge finds the templates of all documents and resolves every `use`. The documents
// must not be merged twice.
func (d *Documents) Merge() (*Merged, diag.List) {
	_, before := d.budget.Exhausted()
	sink := &report.Sink{}
	context := &decode.Context{Sink: sink, Budget: d.budget}
	m := &Merged{documents: d, context: context, templates: merge.Collect(d.set, context, d.isKind)}
	_, m.exhausted = d.budget.Exhausted()
	return m, finish(sink, d.budget, before)
}

// isKind reports whether a kind of that name is defined anywhere.
func (d *Documents) isKind(name string) bool {
	if d.kindNames == nil {
		d.kindNames = make(map[string]bool)
		for _, k := range d.kinds {
			d.kindNames[k.Name] = true
		}
		for _, document := range d.set.Documents {
			for it := document.Fields.Get("kinds").Entries(); it.Next(); {
				d.kindNames[it.Name] = true
			}
		}
	}
	return d.kindNames[name]
}

// Expand checks every rule, expands counts and identifiers, puts defaults in and gives
// the model, which is nil where the list holds an error, and of no use where that of an
// earlier step does.
func (m *Merged) Expand() (*Model, diag.List) {
	sink := &report.Sink{}
	m.context.Sink = sink
	d := &decoder{
		Context: m.context, templates: m.templates,
		incomplete: m.documents.set.Incomplete,
	}
	model := d.model(m.documents)
	problems := finish(sink, m.documents.budget, m.exhausted)
	if problems.HasErrors() {
		return nil, problems
	}
	return model, problems
}

// finish gives what a step has found, and says that the budget ran out in it.
func finish(sink *report.Sink, budget *source.Budget, before bool) diag.List {
	if at, exhausted := budget.Exhausted(); exhausted && !before {
		sink.Add(diag.Diagnostic{
			Pos:     at.Pos(),
			Code:    schema.TooManyNodes,
			Message: fmt.Sprintf("aliases and templates multiply this beyond %d values in one load", schema.MaxNodes),
			Hint:    "use `count` for what is the same",
			Related: decode.BroughtIn(at.Via()),
		})
	}
	return sink.List()
}

package topology

import (
	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/merge"
	"github.com/cosim-go/cosim/topology/internal/source"
)

// A decoder turns merged documents into a model. Its methods return what they read, and
// whether it is all right; where it is not, that has been reported.
type decoder struct {
	*decode.Context

	templates  *merge.Templates
	kinds      map[string]*kindEntry
	byRole     map[Role][]string // names of kinds, as they are needed
	incomplete bool              // a document could not be read, so that kinds may be missing

	memo      map[memoKey]any
	artifacts map[string]artifactUse // by path, of the present document's machines
	origins   map[diag.Pos][]diag.Related
	names     nameSet
}

// model decodes all documents. The machines of the first are the model's.
func (d *decoder) model(documents *Documents) *Model {
	d.origins, d.byRole = make(map[diag.Pos][]diag.Related), make(map[Role][]string)
	m := &Model{File: documents.name, Files: documents.set.Names, origins: d.origins}
	d.memo, d.artifacts = make(map[memoKey]any), make(map[string]artifactUse)
	d.collectKinds(documents)
	for i, document := range documents.set.Documents {
		d.memo, d.artifacts = make(map[memoKey]any), make(map[string]artifactUse)
		machines := d.machines(document.Fields.Get("machines"))
		if i == 0 {
			m.Machines = machines
		}
	}
	d.unusedTemplates()
	return m
}

// A memoKey is a node that several places share, and what it was decoded as.
type memoKey struct {
	node source.Key
	as   string
	kind *Kind // whose rules were applied, or nil
}

type memoised[T any] struct {
	value T
	ok    bool
}

// memo decodes a value once where several places share its node: what comes out is the
// same, and shared by them.
func memo[T any](d *decoder, v source.Value, as string, kind *Kind, read func(source.Value) (T, bool)) (T, bool) {
	node, shared := v.Shared()
	if !shared || d.Partial {
		return read(v)
	}
	key := memoKey{node, as, kind}
	if known, ok := d.memo[key].(memoised[T]); ok {
		return known.value, known.ok
	}
	value, ok := read(v)
	d.memo[key] = memoised[T]{value, ok}
	return value, ok
}

// field reads one field of a record into a variable. It is ok where the field is absent.
func field[T any](d *decoder, r *decode.Record, name string, into *T, read func(source.Value) (T, bool)) bool {
	v := r.Get(name)
	if !v.Present() {
		return true
	}
	d.Enter(name)
	value, ok := read(v)
	d.Leave()
	if ok {
		*into = value
	}
	return ok
}

// all reports whether all of its arguments hold, every one of which is evaluated.
func all(oks ...bool) bool {
	for _, ok := range oks {
		if !ok {
			return false
		}
	}
	return true
}

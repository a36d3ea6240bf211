// Package texts walks the texts of a template kind.
package texts

import (
	"iter"

	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/placeholder"
)

// Names yields the name of each placeholder of a template, in the order of its fields.
func Names(t *topology.Template) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text := range all(t) {
			for _, n := range text.Names() {
				if !yield(n.Name) {
					return
				}
			}
		}
	}
}

// Has reports whether a template has a placeholder.
func Has(t *topology.Template, name string) bool {
	for n := range Names(t) {
		if n == name {
			return true
		}
	}
	return false
}

func all(t *topology.Template) iter.Seq[placeholder.Text] {
	return func(yield func(placeholder.Text) bool) {
		for _, list := range [][]placeholder.Text{t.Args, t.Ready.Exec, t.Attach.Args, {t.Ready.Socket, t.Ready.File, t.Ready.Log}} {
			for _, text := range list {
				if !yield(text) {
					return
				}
			}
		}
		for _, v := range t.Env {
			if !yield(v.Value) {
				return
			}
		}
	}
}

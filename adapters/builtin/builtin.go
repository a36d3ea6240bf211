// Package builtin puts together the kinds that come with cosim.
package builtin

import (
	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/gem5mi300x"
	"github.com/cosim-go/cosim/adapters/qemudevice"
	"github.com/cosim-go/cosim/adapters/qemuvhost"
	"github.com/cosim-go/cosim/adapters/template"
	"github.com/cosim-go/cosim/topology"
)

// Table returns the built-in kinds. Each call returns a new table of the same adapters.
func Table() adapters.Table {
	table := adapters.Table{}
	for _, a := range []adapters.Adapter{qemuvhost.New(), gem5mi300x.New(), qemudevice.New()} {
		table[a.Kind().Name] = a
	}
	return table
}

// For returns the adapter of a kind: the template adapter for one that is written in
// YAML, else the table's. It returns nil for a kind that the table does not know.
func For(table adapters.Table, kind *topology.Kind) adapters.Adapter {
	if kind.Template != nil {
		return template.New(kind)
	}
	return table[kind.Name]
}

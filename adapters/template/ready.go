package template

import (
	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/placeholder"
)

// ready fills a readiness. A relative path means the workspace, where processes run.
func (f *filler) ready(r topology.Ready) adapters.Ready {
	return adapters.Ready{
		Socket: f.readyPath(r.Socket),
		File:   f.readyPath(r.File),
		Log:    f.pattern(r.Log),
		Exec:   f.readyCommand(r.Exec),
	}
}

func (f *filler) readyPath(t placeholder.Text) string {
	if s := f.text(t); s != "" {
		return f.m.Files.Resource(s)
	}
	return ""
}

func (f *filler) readyCommand(from []placeholder.Text) []string {
	if len(from) == 0 {
		return nil
	}
	return f.args(from)
}

package adapterstest

import (
	"testing/fstest"

	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
)

// File is the name of the document that [Load] reads.
const File = "test.yaml"

// Load reads one document that imports nothing. The model is nil where the list holds an
// error.
func Load(text string, kinds []*topology.Kind) (*topology.Model, diag.List) {
	source := topology.FromFS(fstest.MapFS{File: {Data: []byte(text)}})
	return topology.Load(source, File, &topology.Options{Kinds: kinds})
}

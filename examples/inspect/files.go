package main

import (
	"os"
	"path/filepath"

	"github.com/cosim-go/cosim/topology"
)

// files are the documents of the file system. The canonical name of a file is its
// absolute path without symbolic links, so that each is loaded once.
type files struct{}

func (files) Open(name string) (topology.Document, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return topology.Document{}, err
	}
	canonical, err := filepath.EvalSymlinks(name)
	if err == nil {
		canonical, err = filepath.Abs(canonical)
	}
	return topology.Document{Data: data, Canonical: canonical}, err
}

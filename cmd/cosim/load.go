package main

import (
	"os"
	"path/filepath"

	"github.com/cosim-go/cosim/adapters/builtin"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/layout"
)

// load reads and checks one topology and lays it out. Where the list holds an error,
// there is no model.
func (c *cli) load(file string, page layout.Size) (*topology.Model, *layout.Layout, diag.List, error) {
	source, name := fileSource{}, file
	if file == "-" {
		data, err := readLimited(c.stdin)
		if err != nil {
			return nil, nil, nil, &exitError{code: exitTopology, msg: "reading standard input: " + err.Error()}
		}
		source.stdin, name = data, stdinName
	}
	opts, err := c.loadOptions()
	if err != nil {
		return nil, nil, nil, err
	}
	model, list := topology.Load(source, filepath.ToSlash(name), opts)
	if list.HasErrors() {
		return nil, nil, list, nil
	}
	placed, more := topology.Layout(model, page)
	list = append(list, more...).Sorted()
	if list.HasErrors() {
		return nil, nil, list, nil
	}
	return model, placed, list, nil
}

func (c *cli) loadOptions() (*topology.Options, error) {
	opts := &topology.Options{Kinds: builtin.Table().Kinds()}
	if c.workspace != "" {
		info, err := os.Stat(c.workspace)
		if err != nil || !info.IsDir() {
			return nil, usage("--workspace %q is not a directory", c.workspace)
		}
	}
	if !c.builtin {
		info, err := os.Stat(c.resources)
		if err != nil || !info.IsDir() {
			return nil, usage("--resources %q is not a directory", c.resources)
		}
		opts.Resources = []string{filepath.ToSlash(c.resources)}
		return opts, nil
	}
	opts.Resources = []string{filepath.ToSlash(filepath.Join(c.workspace, "resources")), builtinDir}
	return opts, nil
}

// printDiagnostics writes what a topology's reader found, in the form asked for.
func (c *cli) printDiagnostics(list diag.List) error {
	if c.format == "json" {
		return diag.WriteJSON(c.stdout, list)
	}
	return diag.WriteText(c.stderr, list)
}

// pageSize turns --page-size into bytes; an empty text means this host's.
func pageSize(text string) (layout.Size, error) {
	if text == "" {
		return layout.Size(os.Getpagesize()), nil
	}
	page, err := layout.ParseSize(text)
	if err != nil {
		return 0, usage("--page-size: %v", err)
	}
	if !layout.ValidPage(page) {
		return 0, usage("--page-size %q: a page is a power of two of at most 1G", text)
	}
	return page, nil
}

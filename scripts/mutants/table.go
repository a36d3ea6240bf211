package main

import (
	"embed"
	"io/fs"
)

//go:embed table/*.txt
var tables embed.FS

// table reads all mutants, file by file in the order of their names.
func table() ([]mutant, error) {
	names, err := fs.Glob(tables, "table/*.txt")
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, name := range names {
		text, err := tables.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list, err := parse(name, string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

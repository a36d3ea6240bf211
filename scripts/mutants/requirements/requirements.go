// Package requirements maps the rows of docs/requirements.md to the tests that name them.
//
// A test names a row in a comment such as
//
//	// Requirement: T6
//	// Requirements: T6, T7. More text may follow.
//
// which stands at its head or inside it, or in a file below testdata, where the file is
// taken for the test.
package requirements

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// A Row is one requirement.
type Row struct{ ID, Text string }

// A Mention is a test that names a row.
type Mention struct {
	ID   string
	Test string // such as topology/layout TestPlace, or the path of a file below testdata
	At   string // file and line
}

// A Table is the rows with the tests that name them.
type Table struct {
	Rows     []Row
	Tests    map[string][]string // by ID, sorted, each once
	Problems []string            // what is wrong, each with its place
}

// Read reads the rows and the tests of a working tree.
func Read(root string) (*Table, error) {
	rows, err := Rows(root)
	if err != nil {
		return nil, err
	}
	mentions, problems, err := find(root)
	if err != nil {
		return nil, err
	}
	t := &Table{Rows: rows, Tests: make(map[string][]string), Problems: problems}
	for _, m := range mentions {
		if !slices.ContainsFunc(rows, func(r Row) bool { return r.ID == m.ID }) {
			t.Problems = append(t.Problems, fmt.Sprintf("%s: there is no requirement %s", m.At, m.ID))
			continue
		}
		t.Tests[m.ID] = append(t.Tests[m.ID], m.Test)
	}
	for _, r := range rows {
		slices.Sort(t.Tests[r.ID])
		t.Tests[r.ID] = slices.Compact(t.Tests[r.ID])
		if len(t.Tests[r.ID]) == 0 {
			t.Problems = append(t.Problems, fmt.Sprintf("%s: no test names %s: %s", Document, r.ID, r.Text))
		}
	}
	return t, nil
}

// Err gives the problems as one error, and nil where there are none.
func (t *Table) Err() error {
	if len(t.Problems) == 0 {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(t.Problems, "\n"))
}

// Print writes the table of a working tree, a row and then its tests, and returns an
// error where a row has none.
func Print(w io.Writer, root string) error {
	t, err := Read(root)
	if err != nil {
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range t.Rows {
		fmt.Fprintf(tw, "%s\t%s\n", r.ID, r.Text)
		for _, test := range t.Tests[r.ID] {
			fmt.Fprintf(tw, "\t- %s\n", test)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	return t.Err()
}

var naming = regexp.MustCompile(`^\W*Requirements?: ((?:[A-Z]+[0-9]+)(?:, [A-Z]+[0-9]+)*)`)

// named lists the IDs that a line of a comment names.
func named(line string) []string {
	fields := naming.FindStringSubmatch(line)
	if fields == nil {
		return nil
	}
	return strings.Split(fields[1], ", ")
}

package requirements

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// Document is the list of requirements, in the repository.
const Document = "docs/requirements.md"

var row = regexp.MustCompile(`(?m)^\| ([A-Z]+[0-9]+) \| (.+) \|$`)

// Rows reads the requirements of a working tree, in the order of the document.
func Rows(root string) ([]Row, error) {
	text, err := os.ReadFile(filepath.Join(root, Document))
	if err != nil {
		return nil, err
	}
	var rows []Row
	known := make(map[string]bool)
	for _, fields := range row.FindAllSubmatch(text, -1) {
		r := Row{string(fields[1]), string(fields[2])}
		if known[r.ID] {
			return nil, fmt.Errorf("%s: %s is there twice", Document, r.ID)
		}
		known[r.ID] = true
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: no rows such as | T6 | text |", Document)
	}
	return rows, nil
}

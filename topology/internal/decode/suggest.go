package decode

import (
	"slices"
	"strings"

	"github.com/cosim-go/cosim/topology/diag"
)

// maxCompared bounds the names that one load compares for its suggestions: a document
// can be wrong very often, and have very many names.
const maxCompared = 500_000

const (
	maxListed      = 6 // names that a hint lists
	maxListedWords = 8 // the same for the values of an enum
)

const oneOf = "one of"

// Closest gives the valid name that was probably meant, or "".
func (c *Context) Closest(name string, valid []string) string {
	if c.compared == nil {
		c.compared = new(int)
	}
	if *c.compared += len(valid); *c.compared > maxCompared || c.silent() {
		return ""
	}
	return diag.Suggest(name, valid)
}

// Suggest is a hint about a name that is not one of the valid ones: the closest of
// them, and all where there are few. It is empty where there is nothing to say.
func (c *Context) Suggest(name string, valid []string, what string) string {
	return hint(c.Closest(name, valid), valid, what)
}

func hint(closest string, valid []string, what string) string {
	list := ""
	if n := len(valid); n > 0 && (n <= maxListed || what == oneOf && n <= maxListedWords) {
		sorted := slices.Sorted(slices.Values(valid))
		list = what + ": " + strings.Join(sorted, ", ")
	}
	switch {
	case closest == "":
		return list
	case list == "" || len(valid) == 1:
		return `did you mean "` + closest + `"?`
	}
	return `did you mean "` + closest + `"? (` + list + ")"
}

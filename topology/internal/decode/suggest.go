package decode

import (
	"slices"
	"strings"

	"github.com/cosim-go/cosim/topology/diag"
)

// The work of finding a suggestion grows with the number of names, and a document can
// be wrong very often.
const (
	maxSuggestions = 2000
	maxNames       = 5000
	maxListed      = 6
	maxListedWords = 8 // of the values of an enum
)

const oneOf = "one of"

// Suggest is a hint about a name that is not one of the valid ones: the closest of
// them, and all where there are few. It is empty where there is nothing to say.
func (c *Context) Suggest(name string, valid []string, what string) string {
	if len(valid) == 0 || len(valid) > maxNames || c.suggested >= maxSuggestions {
		return ""
	}
	c.suggested++
	close := diag.Suggest(name, valid)
	list := ""
	if len(valid) <= maxListed || what == oneOf && len(valid) <= maxListedWords {
		sorted := slices.Sorted(slices.Values(valid))
		list = what + ": " + strings.Join(sorted, ", ")
	}
	switch {
	case close == "":
		return list
	case list == "" || len(valid) == 1:
		return `did you mean "` + close + `"?`
	}
	return `did you mean "` + close + `"? (` + list + ")"
}

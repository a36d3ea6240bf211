package jsonschema

import (
	"fmt"

	"github.com/cosim-go/cosim/topology/layout"
	"github.com/cosim-go/cosim/topology/schema"
)

// Patterns are in the syntax that ECMA-262 and RE2 share.
const (
	digitsAndUnit = `[1-9][0-9]*([KMGTPkmgtp]([iI][bB])?)?`
	hexadecimal   = `0[xX]0*[1-9a-fA-F][0-9a-fA-F]*`
	// durationPattern is the form of Go's time.ParseDuration.
	durationPattern = `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`
	importPattern   = `^[^#]+(#templates)?$`
	parentElement   = `(^|/)\.\.(/|$)`
)

// scalar gives the schema of one value of a type that stands for itself.
func (g *generator) scalar(t schema.Type) object {
	switch t {
	case schema.Any:
		return nil
	case schema.Integer:
		return object{{"type", "integer"}}
	case schema.Bool:
		return object{{"type", "boolean"}}
	case schema.String, schema.Regexp:
		return object{{"type", "string"}}
	case schema.Text, schema.Placeholder:
		return object{{"type", []string{"string", "number", "boolean"}}}
	case schema.Import:
		return object{{"type", "string"}, {"pattern", importPattern}}
	case schema.Identifier, schema.Size, schema.Duration, schema.Path, schema.Program:
		return ref(g.define(string(t), func() object { return named(t) }))
	}
	panic("jsonschema: type " + string(t) + " is no scalar")
}

// named gives the schema of a type that is worth a definition of its own.
func named(t schema.Type) object {
	switch t {
	case schema.Identifier:
		return object{
			{"description", fmt.Sprintf("1 to %d letters, digits, underscores or hyphens.", schema.MaxIdentifier)},
			{"type", "string"},
			{"pattern", identifierPattern},
		}
	case schema.Size:
		return object{
			{"description", "Bytes, or digits and a binary unit: K, M, G, T or P, optionally followed by iB."},
			{"type", []string{"integer", "string"}},
			{"minimum", 1},
			{"maximum", uint64(layout.MaxSize)},
			{"pattern", "^(" + digitsAndUnit + "|" + hexadecimal + ")$"},
		}
	case schema.Duration:
		return object{
			{"description", "A duration such as 90s or 1m30s."},
			{"type", "string"},
			{"pattern", durationPattern},
		}
	case schema.Path:
		return pathOf("A path relative to the workspace root, or an absolute one, without `..`.")
	case schema.Program:
		return pathOf("A path like any other where it has a slash, else a name looked up in PATH.")
	}
	panic("jsonschema: type " + string(t) + " has no definition")
}

var identifierPattern = fmt.Sprintf("^[A-Za-z0-9_-]{1,%d}$", schema.MaxIdentifier)

func pathOf(description string) object {
	return object{
		{"description", description},
		{"type", "string"},
		{"minLength", 1},
		{"not", object{{"pattern", parentElement}}},
	}
}

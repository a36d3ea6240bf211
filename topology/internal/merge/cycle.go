package merge

import (
	"strings"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/schema"
)

type state uint8

const (
	untouched state = iota
	open
	done
)

// findCycles reports each cycle of templates once, and marks the templates in it.
func (t *Templates) findCycles() {
	for _, template := range t.inOrder {
		if template.state == untouched {
			t.visit(template, nil)
		}
	}
}

// visit goes on along every use of a template; path leads to it from where the search
// started.
func (t *Templates) visit(template *Template, path []use) {
	template.state = open
	for _, u := range template.uses {
		switch u.target.state {
		case untouched:
			t.visit(u.target, append(path, u))
		case open:
			t.cycle(u, path)
		}
	}
	template.state = done
}

// cycle reports that last leads back to a template on the path.
func (t *Templates) cycle(last use, path []use) {
	start := len(path)
	for start > 0 && path[start-1].target != last.target {
		start--
	}
	edges := append(append([]use{}, path[start:]...), last)
	names := []string{last.target.Name}
	var related []diag.Related
	for i, u := range edges {
		u.target.broken = true
		names = append(names, u.target.Name)
		if i > 0 {
			related = append(related, diag.Related{Pos: u.at.Pos(), Message: "used here"})
		}
	}
	t.context.Report(edges[0].at, decode.Problem{
		Code:    schema.TemplateCycle,
		Message: "template cycle: " + strings.Join(names, " → "),
		Related: related,
	})
}

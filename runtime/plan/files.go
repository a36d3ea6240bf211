package plan

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
)

// A lookup is what became of an executable.
type lookup struct {
	path     string
	lookedIn []string
	ok       bool
}

// program finds an executable and notes it where it is not there. It returns the
// absolute path, or the name as written.
func (m *maker) program(p topology.Path, neededBy string) string {
	name := p.Name
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(m.in.Session.Workspace, name)
	}
	found, known := m.programs[name]
	if !known {
		found.path, found.lookedIn, found.ok = m.in.Host.LookPath(name)
		m.programs[name] = found
	}
	if found.ok {
		return found.path
	}
	m.noteMissing("executable", p, neededBy, found.lookedIn)
	return p.Name
}

// noteMissing adds what the host lacks to the plan, and says so at the place in the
// topology that asks for it.
func (m *maker) noteMissing(what string, p topology.Path, neededBy string, lookedIn []string) {
	key := what + "\x00" + p.Name
	i, known := m.missing[key]
	if !known {
		i = len(m.plan.Launch.Missing)
		m.missing[key] = i
		m.plan.Launch.Missing = append(m.plan.Launch.Missing, Missing{What: what, Name: p.Name, LookedIn: nonNil(lookedIn)})
	}
	entry := &m.plan.Launch.Missing[i]
	if slices.Contains(entry.NeededBy, neededBy) {
		return
	}
	entry.NeededBy = append(entry.NeededBy, neededBy)
	m.list = append(m.list, diag.Diagnostic{
		Pos: p.Pos, Code: CodeMissing,
		Message: fmt.Sprintf("%s %q is not there, needed by %s", what, p.Name, neededBy),
		Hint:    missingHint(what, p.Name, lookedIn),
	})
}

func missingHint(what, name string, lookedIn []string) string {
	switch {
	case what == "executable" && !strings.Contains(name, "/") && len(lookedIn) > 0:
		return "install it, or give its path with `program`; looked in " + strings.Join(lookedIn, ", ")
	case what == "executable" && !strings.Contains(name, "/"):
		return "install it, or give its path with `program`; PATH is empty"
	case what == "executable":
		return "looked for an executable file at " + strings.Join(lookedIn, ", ")
	}
	return "put the file there, or give it a `recipe`; looked for " + strings.Join(lookedIn, ", ")
}

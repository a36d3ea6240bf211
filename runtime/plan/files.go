package plan

import (
	"fmt"
	"path/filepath"
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
	if len(entry.NeededBy) == 0 || entry.NeededBy[len(entry.NeededBy)-1] != neededBy {
		entry.NeededBy = append(entry.NeededBy, neededBy)
	}
	place := missingAt{i, p.Pos}
	users := m.places[place]
	if users == nil {
		users = &[]string{}
		m.places[place] = users
		m.placeOrder = append(m.placeOrder, place)
	}
	if len(*users) == 0 || (*users)[len(*users)-1] != neededBy {
		*users = append(*users, neededBy)
	}
}

// A missingAt is one place of the topology that asks for something missing.
type missingAt struct {
	index int // in plan.Launch.Missing
	pos   diag.Pos
}

// reportMissing says what is missing at each place that asks for it, once, however many
// processes share the place.
func (m *maker) reportMissing() {
	for _, place := range m.placeOrder {
		entry, what := m.plan.Launch.Missing[place.index], "is not there"
		if reason := m.unfit[place.index]; reason != "" {
			what = "cannot be used: it is " + reason
		}
		m.list = append(m.list, diag.Diagnostic{
			Pos: place.pos, Code: CodeMissing,
			Message: fmt.Sprintf("%s %q %s, needed by %s", entry.What, entry.Name, what, Few(*m.places[place])),
			Hint:    entry.Hint(),
		})
	}
}

// Few joins names, and counts those behind the first eight.
func Few(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Hint says what to do about it.
func (m Missing) Hint() string {
	switch {
	case m.What == "executable" && !strings.Contains(m.Name, "/") && len(m.LookedIn) > 0:
		return "install it, or give its path with `program`; looked in " + Few(m.LookedIn)
	case m.What == "executable" && !strings.Contains(m.Name, "/"):
		return "install it, or give its path with `program`; PATH is empty"
	case m.What == "executable":
		return "looked for an executable file at " + Few(m.LookedIn)
	case m.What == "directory":
		return "make it, or give the recipe another `dir`; looked for " + Few(m.LookedIn)
	}
	return "put the file there, or give it a `recipe`; looked for " + Few(m.LookedIn)
}

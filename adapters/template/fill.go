package template

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/placeholder"
)

// A filler fills the texts of one process.
type filler struct {
	m       *adapters.Machine
	process *topology.Process
	log     string
	attach  []string // of a vhost

	device *topology.Device // nil for a vhost
	paths  adapters.DevicePaths
	fd     int // of the device's channel, in the process whose text is filled

	list diag.List
}

// args fills arguments. One that is a single placeholder for a list becomes as many
// arguments as the list has.
func (f *filler) args(from []placeholder.Text) []string {
	args := make([]string, 0, len(from))
	for _, t := range from {
		if list, ok := f.wholeList(t); ok {
			args = append(args, list...)
		} else {
			args = append(args, f.text(t))
		}
	}
	return args
}

func (f *filler) wholeList(t placeholder.Text) ([]string, bool) {
	name, ok := t.Sole()
	switch {
	case !ok:
		return nil, false
	case name == "attach" && f.device == nil:
		return f.attach, true
	}
	list, ok := f.process.Params.Value(strings.TrimPrefix(name, paramPrefix)).([]string)
	return list, ok && strings.HasPrefix(name, paramPrefix)
}

func (f *filler) text(t placeholder.Text) string {
	return f.fill(t, func(s string) string { return s })
}

// pattern fills a regular expression, in which values match themselves.
func (f *filler) pattern(t placeholder.Text) string { return f.fill(t, regexp.QuoteMeta) }

// fill fills a text. The loader has seen to it that each of its names has a value here.
func (f *filler) fill(t placeholder.Text, quote func(string) string) string {
	_, whole := t.Sole()
	s, err := t.Expand(func(name string) (string, bool) {
		v, ok := f.value(name)
		if v.path && !whole {
			f.checkPath(name, v.text, t)
		}
		return quote(v.text), ok
	})
	if err != nil {
		panic(fmt.Sprintf("template: kind %q: %v", f.process.Kind.Name, err))
	}
	return s
}

// checkPath refuses a path that would end a JSON string or begin an escape in it.
func (f *filler) checkPath(name, path string, in placeholder.Text) {
	bad := strings.IndexFunc(path, func(r rune) bool { return r == '"' || r == '\\' || unicode.IsControl(r) })
	if bad < 0 {
		return
	}
	what := "a control character"
	switch path[bad] {
	case '"':
		what = "a double quote"
	case '\\':
		what = "a backslash"
	}
	f.list = append(f.list, diag.Diagnostic{
		Pos: f.process.Pos, Code: adapters.CodePathCharacter,
		Message: fmt.Sprintf("the path for {{%s}} has %s in it, which would break the text %q of kind %q",
			name, what, in, f.process.Kind.Name),
		Hint: "keep double quotes, backslashes and control characters out of the paths of workspace, run directory and pool directory",
		Related: []diag.Related{
			{Pos: f.process.Kind.Pos, Message: fmt.Sprintf("kind %q is defined here", f.process.Kind.Name)},
		},
	})
}

package merge

import (
	"fmt"

	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// A walker looks at every `use` as it is written.
type walker struct {
	templates *Templates
	in        *Template    // being looked at, or nil
	seen      map[any]bool // nodes that several places share
}

func (w *walker) machines(v source.Value) {
	c := w.templates.context
	c.Enter("machines")
	w.items(v, schema.Machine)
	c.Leave()
}

func (w *walker) items(v source.Value, s *schema.Section) {
	if w.again(v) {
		return
	}
	for i := range v.Items() {
		w.templates.context.EnterItem(i)
		w.place(v.Item(i), s)
		w.templates.context.Leave()
	}
}

// again reports whether a shared value was looked at before. In a template it is looked
// at again, since the template's own references are wanted.
func (w *walker) again(v source.Value) bool {
	key, shared := v.Shared()
	if !shared || w.in != nil {
		return false
	}
	again := w.seen[key]
	w.seen[key] = true
	return again
}

// place looks at a mapping that may be any of some sections that take `use`.
func (w *walker) place(v source.Value, sections ...*schema.Section) {
	if !v.IsMapping() || w.again(v) {
		return
	}
	for it := v.Entries(); it.Next(); {
		w.field(it.Entry, sections)
	}
}

func (w *walker) field(e source.Entry, sections []*schema.Section) {
	if e.Name != "use" && e.Name != "vhost" && e.Name != "devices" && e.Name != "disks" {
		return
	}
	for _, s := range sections {
		f := s.Field(e.Name)
		if f == nil {
			continue
		}
		w.templates.context.Enter(e.Name)
		switch inner := schema.Lookup(f.Section); {
		case e.Name == "use":
			w.use(e.Value)
		case f.Shape == schema.Sequence:
			w.items(e.Value, inner)
		default:
			w.place(e.Value, inner)
		}
		w.templates.context.Leave()
		return
	}
}

func (w *walker) use(v source.Value) {
	if v.IsNull() {
		return
	}
	t := w.templates
	name, ok := t.context.Identifier(v)
	if !ok {
		return
	}
	target := t.byName[name]
	if target == nil {
		t.unknown(v, name)
		return
	}
	if w.in != nil {
		w.in.uses = append(w.in.uses, use{v, target})
	}
}

func (t *Templates) unknown(v source.Value, name string) {
	if t.incomplete {
		return
	}
	hint := t.context.Suggest(name, t.names(), "templates")
	if t.isKind(name) {
		hint = fmt.Sprintf("%q is a kind; write kind: %s", name, name)
	}
	t.context.Report(v, decode.Problem{Code: schema.UnknownTemplate, Message: fmt.Sprintf("unknown template %q", name), Hint: hint})
}

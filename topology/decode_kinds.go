package topology

import (
	"fmt"
	"strings"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

func (d *decoder) collectKinds(documents *Documents) {
	d.kinds = make(map[string]*kindEntry)
	for _, k := range documents.kinds {
		d.kinds[k.Name] = &kindEntry{Kind: k}
	}
	for _, document := range documents.set.Documents {
		v := document.Fields.Get("kinds")
		if !v.Present() {
			continue
		}
		d.Enter("kinds")
		if !d.Fields(v, "mapping", d.addKind) {
			d.incomplete = true
		}
		d.Leave()
	}
}

func (d *decoder) addKind(e source.Entry) {
	name, ok := d.Key(e)
	if !ok {
		d.incomplete = true
		return
	}
	if first, known := d.kinds[name]; known {
		d.duplicateKind(name, first, e)
		return
	}
	k := &kindEntry{Kind: &Kind{Name: name, Pos: e.Pos()}, key: e.Key()}
	d.kinds[name] = k
	k.broken = !d.kind(e.Value, k)
}

func (d *decoder) duplicateKind(name string, first *kindEntry, e source.Entry) {
	p := decode.Problem{Code: schema.DuplicateKind, Message: fmt.Sprintf("kind %q is defined twice", name)}
	switch {
	case !first.key.Present():
		p.Message = fmt.Sprintf("kind %q is a built-in one", name)
		p.Hint = "choose another name"
	case first.key.File() == e.Key().File():
		return // the key is there twice, which has been reported
	default:
		p.Related = []diag.Related{{Pos: first.key.Pos(), Message: fmt.Sprintf("%q is defined here", name)}}
	}
	d.Report(e.Key(), p)
}

func (d *decoder) kind(v source.Value, k *kindEntry) bool {
	r, ok := d.Section(v, schema.Kind)
	defer d.Done(r)
	t := &Template{Stop: DefaultStop}
	k.Template, k.MaxDevices = t, DefaultMaxDevices
	var role string
	if !v.IsMapping() || !field(d, r, "role", &role, d.role) || role == "" {
		return false
	}
	k.Role = Role(role)
	s := &scope{decoder: d, kind: k, unsure: make(map[string]bool)}
	ok = all(ok, d.roleFields(r, k.Role),
		field(d, r, "program", &k.Program, d.kindProgram),
		field(d, r, "max_devices", &k.MaxDevices, d.maxDevices),
		s.sure("channel", field(d, r, "channel", &t.Channel, d.Bool)),
		s.sure("params", field(d, r, "params", &k.Params, d.paramDeclarations)),
		s.sure("regions", field(d, r, "regions", &t.Regions, d.kindRegions)),
		field(d, r, "stop", &t.Stop, d.stop),
		s.texts(r),
	)
	k.TakesDisks = k.Role == RoleVhost || len(k.disks.names) > 0
	return ok
}

func (d *decoder) role(v source.Value) (string, bool) { return d.Enum(v, schema.Roles) }

// roleFields reports fields that only kinds of the other role have.
func (d *decoder) roleFields(r *decode.Record, role Role) bool {
	ok := true
	for _, name := range r.Names() {
		f := schema.Kind.Field(name)
		if f.Role == "" || f.Role == string(role) {
			continue
		}
		e, _ := r.Entry(name)
		ok = false
		d.Report(e.Key(), decode.Problem{
			Code:    schema.WrongRole,
			Message: fmt.Sprintf("field %q is for kinds of role %q, and this is a %s kind", name, f.Role, role),
		})
	}
	return ok
}

// kindProgram reads the program of a kind, which cannot have placeholders.
func (d *decoder) kindProgram(v source.Value) (Path, bool) {
	if v.IsScalar() && strings.Contains(v.Text(), "{{") {
		d.Report(v, decode.Problem{Code: schema.BadPlaceholder, Message: "placeholders have no value in program", Hint: "they have in args, env, ready and attach"})
		return Path{}, false
	}
	return d.program(v)
}

func (d *decoder) maxDevices(v source.Value) (int, bool) {
	n, ok := d.Integer(v, 1, schema.MaxDevices)
	return int(n), ok
}

// kindRegions reads the regions of a kind. Their names become placeholders, where
// "memory" is the guest's.
func (d *decoder) kindRegions(v source.Value) ([]Region, bool) {
	regions, ok := d.regions(v)
	for it := v.Entries(); it.Next(); {
		if it.Name == memoryRegion {
			ok = false
			d.Report(it.Key(), decode.Problem{
				Code: schema.ReservedIdentifier, Message: fmt.Sprintf("region %q of a kind is reserved for the guest's memory", it.Name),
			})
		}
	}
	return regions, ok
}

func (d *decoder) stop(v source.Value) (Stop, bool) {
	stop := DefaultStop
	r, ok := d.Section(v, schema.Stop)
	defer d.Done(r)
	return stop, all(ok,
		field(d, r, "signal", &stop.Signal, func(v source.Value) (string, bool) { return d.Enum(v, schema.StopSignals) }),
		field(d, r, "grace", &stop.Grace, d.duration),
	)
}

// findKind reads the field `kind` of a vhost or a device. It gives nil where there is no
// such kind, which has been reported then.
func (d *decoder) findKind(r *decode.Record, role Role) *kindEntry {
	v := r.Get("kind")
	if !v.Present() {
		return nil
	}
	d.Enter("kind")
	defer d.Leave()
	name, ok := d.Identifier(v)
	if !ok {
		return nil
	}
	k, known := d.kinds[name]
	switch {
	case !known:
		d.unknownKind(v, name, role)
		return nil
	case k.broken && k.Role == "":
		return nil
	case k.Role != role:
		d.wrongRole(v, k, role)
		return nil
	}
	return k
}

func (d *decoder) unknownKind(v source.Value, name string, role Role) {
	if d.incomplete {
		return
	}
	what := string(role) + " kind"
	if d.Partial {
		what, role = "kind", "" // a template that nobody uses may be for both
	}
	hint := d.Suggest(name, d.kindNames(role), "kinds")
	if d.templates.Has(name) {
		hint = fmt.Sprintf("%q is a template; write use: %s", name, name)
	}
	d.Report(v, decode.Problem{Code: schema.UnknownKind, Message: fmt.Sprintf("unknown %s %q", what, name), Hint: hint})
}

// kindNames lists the kinds of a role, or all where it is empty.
func (d *decoder) kindNames(role Role) []string {
	names, ok := d.byRole[role]
	if !ok {
		for _, k := range d.kinds {
			if k.Role == role || role == "" {
				names = append(names, k.Name)
			}
		}
		d.byRole[role] = names
	}
	return names
}

func (d *decoder) wrongRole(v source.Value, k *kindEntry, role Role) {
	p := decode.Problem{
		Code:    schema.WrongRole,
		Message: fmt.Sprintf("kind %q is for a %s, not for a %s", k.Name, k.Role, role),
		Hint:    "it fits in an item of `devices`",
	}
	if k.Role == RoleVhost {
		p.Hint = "it fits in `vhost`"
	}
	if k.key.Present() {
		p.Related = []diag.Related{{Pos: k.key.Pos(), Message: fmt.Sprintf("kind %q is defined here", k.Name)}}
	}
	d.Report(v, p)
}

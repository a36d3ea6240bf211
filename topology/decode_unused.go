package topology

import (
	"github.com/cosim-go/cosim/topology/internal/merge"
	"github.com/cosim-go/cosim/topology/internal/report"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// unusedTemplates checks the templates that no machine uses: their fields must be those
// of one section, and the values right; required ones may be missing.
func (d *decoder) unusedTemplates() {
	for _, t := range d.templates.Unused() {
		d.unusedTemplate(t)
	}
}

// unusedTemplate decodes a template as each section that it may be meant for. The one
// with the fewest problems is taken to be it.
func (d *decoder) unusedTemplate(t *merge.Template) {
	var found *report.Sink
	for _, s := range d.meantSections(d.templates.Resolve(t.Value)) {
		if sink := d.tryTemplate(t, s); found == nil || sink.Len() < found.Len() {
			found = sink
		}
	}
	for _, problem := range found.List() {
		d.Sink.Add(problem)
	}
}

// meantSections lists the sections that know the most of a template's fields, or the one
// that its kind is for.
func (d *decoder) meantSections(v source.Value) []*schema.Section {
	var best []*schema.Section
	most := -1
	for _, s := range schema.Users() {
		known := 0
		for it := v.Entries(); it.Next(); {
			if s.Index(it.Name) >= 0 {
				known++
			}
		}
		if known > most {
			best, most = nil, known
		}
		if known == most {
			best = append(best, s)
		}
	}
	e, _ := v.Get("kind")
	k := d.kinds[textOf(e.Value)]
	for _, s := range best {
		if k != nil && s.Name == string(k.Role) {
			return []*schema.Section{s}
		}
	}
	return best
}

func (d *decoder) tryTemplate(t *merge.Template, s *schema.Section) *report.Sink {
	trial := *d
	trial.Context = d.Trial()
	trial.Enter("templates")
	trial.Enter(t.Name)
	switch s {
	case schema.Machine:
		trial.machine(t.Value, &machineEntry{})
	case schema.Vhost:
		trial.vhost(t.Value)
	case schema.Device:
		trial.device(t.Value, &deviceEntry{})
	case schema.Disk:
		trial.disk(t.Value, schema.Disk.Field("bus").Values)
	}
	return trial.Context.Sink
}

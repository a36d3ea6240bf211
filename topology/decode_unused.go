package topology

import (
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/merge"
	"github.com/cosim-go/cosim/topology/internal/report"
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
	v := d.templates.Resolve(t.Value)
	best, most := []*schema.Section(nil), -1
	for _, s := range schema.Users() {
		known, all := 0, true
		for it := v.Entries(); it.Next(); {
			if s.Index(it.Name) >= 0 {
				known++
			} else {
				all = false
			}
		}
		if all {
			known++
		}
		if known > most {
			best, most = nil, known
		}
		if known == most {
			best = append(best, s)
		}
	}
	var found *report.Sink
	for _, s := range best {
		if sink := d.tryTemplate(t, s); found == nil || sink.Len() < found.Len() {
			found = sink
		}
	}
	for _, problem := range found.List() {
		d.Sink.Add(problem)
	}
}

func (d *decoder) tryTemplate(t *merge.Template, s *schema.Section) *report.Sink {
	trial := *d
	trial.Context = &decode.Context{Sink: &report.Sink{}, Budget: d.Budget, Partial: true}
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
		trial.disk(t.Value, append(schema.VhostBuses[:len(schema.VhostBuses):len(schema.VhostBuses)], schema.DeviceBuses...))
	}
	return trial.Context.Sink
}

package gem5mi300x

import (
	"fmt"
	"strings"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/internal/texts"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/layout"
)

// check reports what keeps a machine's processes from seeing the same memory.
func check(m *topology.Machine, report func(diag.Diagnostic)) {
	var first *topology.Device
	for _, d := range m.Devices {
		switch {
		case d.Kind.Name != Name:
		case first == nil:
			first = d
		case d.Params.String("memory") != first.Params.String("memory"):
			report(mixed(d, first))
		}
	}
	if first == nil {
		return
	}
	checkSplit(m.Vhost, first, report)
	if separated(first) {
		checkPool(m, first, report)
	}
}

func mixed(d, first *topology.Device) diag.Diagnostic {
	return diag.Diagnostic{
		Pos: stylePos(d), Code: adapters.CodeMemoryStyle,
		Message: fmt.Sprintf("device %q has memory %s, but device %q of the same machine has memory %s",
			d.ID, d.Params.String("memory"), first.ID, first.Params.String("memory")),
		Hint:    "give all gem5-mi300x devices of a machine the same memory",
		Related: []diag.Related{{Pos: stylePos(first), Message: fmt.Sprintf("memory of device %q", first.ID)}},
	}
}

func stylePos(d *topology.Device) diag.Pos {
	if v, ok := d.Params.Given("memory"); ok {
		return v.Pos
	}
	return d.Pos
}

// checkSplit refuses a guest memory map other than that of q35, which gem5 computes by
// itself (mi300_cosim.py).
func checkSplit(v *topology.Vhost, d *topology.Device, report func(diag.Diagnostic)) {
	const option = "max-ram-below-4g"
	pos, found := v.Pos, false
	if p, ok := v.Params.Given("machine"); ok && strings.Contains(v.Params.String("machine"), option) {
		pos, found = p.Pos, true
	}
	for _, arg := range v.Args {
		found = found || strings.Contains(arg, option)
	}
	if found {
		report(diag.Diagnostic{
			Pos: pos, Code: adapters.CodeMemorySplit,
			Message: fmt.Sprintf("the vhost's %s moves guest memory where device %q does not look for it", option, d.ID),
			Hint:    "leave the option out",
		})
	}
}

// checkPool refuses template kinds that look for the guest's memory in the pool when it
// is in a file of its own.
func checkPool(m *topology.Machine, first *topology.Device, report func(diag.Diagnostic)) {
	checkTemplate(&m.Vhost.Process, "vhost", first, report)
	for _, d := range m.Devices {
		checkTemplate(&d.Process, fmt.Sprintf("device %q", d.ID), first, report)
	}
}

func checkTemplate(p *topology.Process, what string, first *topology.Device, report func(diag.Diagnostic)) {
	if p.Kind.Template == nil {
		return
	}
	name, ok := poolPlaceholder(p.Kind.Template)
	if !ok {
		return
	}
	report(diag.Diagnostic{
		Pos: p.Pos, Code: adapters.CodeMemoryStyle,
		Message: fmt.Sprintf("%s of kind %q uses {{%s}}, but device %q has memory separate, so the guest's memory is not in the pool",
			what, p.Kind.Name, name, first.ID),
		Hint: "use memory pool for the gem5-mi300x devices, or put this one in a machine of its own",
		Related: []diag.Related{
			{Pos: stylePos(first), Message: fmt.Sprintf("memory of device %q", first.ID)},
			{Pos: p.Kind.Pos, Message: fmt.Sprintf("kind %q is defined here", p.Kind.Name)},
		},
	})
}

// poolPlaceholder finds the first placeholder that speaks of the guest's memory in the pool.
func poolPlaceholder(t *topology.Template) (string, bool) {
	for name := range texts.Names(t) {
		if strings.HasPrefix(name, "pool.") || strings.HasPrefix(name, "regions."+layout.MemoryRegion+".") {
			return name, true
		}
	}
	return "", false
}

package topology

import (
	"fmt"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/report"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/layout"
	"github.com/cosim-go/cosim/topology/schema"
)

// Layout places the regions of each machine in its pool: guest memory first, then those
// of the devices in order. Page is the page size in bytes of the system that executes.
// The layout is nil where the list holds an error.
func Layout(m *Model, page layout.Size) (*layout.Layout, diag.List) {
	p := placer{model: m, page: page}
	if !layout.ValidPage(page) {
		p.sink.Add(diag.Diagnostic{Code: schema.BadPageSize, Message: fmt.Sprintf("page size %d is not a power of two of at most %s", page, layout.GiB)})
		return nil, p.sink.List()
	}
	l := &layout.Layout{Version: layout.Version, PageSize: page, Machines: make([]layout.Machine, len(m.Machines))}
	for i, machine := range m.Machines {
		l.Machines[i].ID = machine.ID
		if i > 0 && sameRegions(machine, m.Machines[i-1]) {
			l.Machines[i].Regions, l.Machines[i].Size = l.Machines[i-1].Regions, l.Machines[i-1].Size
			continue
		}
		l.Machines[i].Regions, l.Machines[i].Size = p.place(machine)
	}
	if p.sink.HasErrors() {
		return nil, p.sink.List()
	}
	return l, p.sink.List()
}

// sameRegions reports whether two machines were written once.
func sameRegions(a, b *Machine) bool {
	return a.Vhost == b.Vhost && len(a.Devices) == len(b.Devices) &&
		(len(a.Devices) == 0 || &a.Devices[0] == &b.Devices[0])
}

type placer struct {
	model    *Model
	page     layout.Size
	sink     report.Sink
	requests []layout.Request // of the present machine
	places   []*Region        // where each was written; nil for guest memory
}

func (p *placer) place(m *Machine) ([]layout.Region, layout.Size) {
	p.requests = append(p.requests[:0], layout.Request{Name: layout.MemoryRegion, Size: m.Vhost.Memory})
	p.places = append(p.places[:0], nil)
	for _, device := range m.Devices {
		for i := range device.Regions {
			r := &device.Regions[i]
			p.requests = append(p.requests, layout.Request{Name: device.ID + "." + r.Name, Size: r.Size, Align: r.Align})
			p.places = append(p.places, r)
		}
	}
	regions, size, problems := layout.Place(p.requests, p.page)
	for _, problem := range problems {
		p.report(m, problem)
	}
	return regions, size
}

func (p *placer) report(m *Machine, problem *layout.PlaceError) {
	what, pos, request := "guest memory", m.Vhost.MemoryPos, p.requests[problem.Index]
	if r := p.places[problem.Index]; r != nil {
		what, pos = fmt.Sprintf("region %q", r.Name), r.Pos
	}
	d := diag.Diagnostic{Pos: pos, Err: problem.Err, Related: p.model.origins[pos]}
	switch problem.Err {
	case layout.ErrSize:
		d.Code = schema.RegionSize
		d.Message = fmt.Sprintf("%s is %s, not a multiple of the page size %s", what, request.Size, p.page)
		d.Hint = wholePages(request.Size, p.page)
	case layout.ErrAlign:
		d.Code = schema.RegionAlign
		d.Message = fmt.Sprintf("alignment %s of %s is not a power of two of at least one page (%s)", request.Align, what, p.page)
	default:
		d.Code = schema.PoolTooLarge
		d.Message = fmt.Sprintf("%s does not fit: the pool would be larger than 2^63-1 bytes", what)
	}
	p.sink.Add(d)
}

// wholePages suggests the size in whole pages above.
func wholePages(size, page layout.Size) string {
	if size > layout.MaxSize-page {
		return ""
	}
	return "write " + ((size + page - 1) / page * page).String()
}

// noteOrigin keeps the `use` that brought in what the layout may have to report.
func (d *decoder) noteOrigin(pos diag.Pos, v source.Value) {
	if v.Via() == nil {
		return
	}
	if _, known := d.origins[pos]; !known {
		d.origins[pos] = decode.BroughtIn(v.Via())
	}
}

package qemuvhost

import (
	"fmt"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
)

// places is where a machine's disks and devices go.
type places struct {
	bridges []string
	disks   []adapters.PCIPlace // by disk of the vhost
	devices []adapters.PCIPlace // by device
}

// placeAll counts everything that wants a slot of a machine, and places it.
func placeAll(m *adapters.Machine, attachments []adapters.Attachment) (places, diag.List) {
	v := m.Model.Vhost
	var own usage
	own.machine(v.Params.String("machine"))
	own.scan(v.Args)

	requests := make([]request, 0, len(v.Disks)+len(attachments)+1)
	for _, d := range v.Disks {
		requests = append(requests, diskRequest(d))
	}
	for _, a := range attachments {
		requests = append(requests, attachmentRequest(a, &own))
	}
	requests = append(requests, request{count: own.later, bus: auto})

	p, lacking := place(requests, own.free())
	if lacking > 0 {
		none := places{disks: make([]adapters.PCIPlace, len(v.Disks)), devices: make([]adapters.PCIPlace, len(attachments))}
		return none, diag.List{{
			Pos: v.Pos, Code: adapters.CodePCISlots,
			Message: fmt.Sprintf("the PCI root bus lacks slots for the disks and devices (%d more needed)", lacking),
			Hint:    "use fewer disks; bus ide takes some without a slot",
		}}
	}
	var list diag.List
	if p.short > 0 {
		list = diag.List{{
			Pos: v.Pos, Severity: diag.Warning, Code: adapters.CodePCISlots,
			Message: fmt.Sprintf("the PCI root bus has no slot left for %d of the devices that name none", p.short),
			Hint:    "give them a bus of their own, such as a pcie-root-port, or use attach: vfio-user",
		}}
	}
	return places{
		bridges: p.bridges,
		disks:   p.places[:len(v.Disks)],
		devices: p.places[len(v.Disks) : len(v.Disks)+len(attachments)],
	}, list
}

// free lists the slots of the root bus that are left. QEMU gives the lowest ones to
// the devices that it makes with the machine.
func (u *usage) free() []int {
	var free []int
	for slot := firstSlot; slot <= lastSlot; slot++ {
		if !u.fixed[slot] {
			free = append(free, slot)
		}
	}
	return free[min(u.early, len(free)):]
}

func diskRequest(d *topology.Disk) request {
	if !pciDisk(d) {
		return request{}
	}
	return request{count: 1, bus: express}
}

// attachmentRequest asks for a place for a PCI device, and for as many slots as a
// verbatim attachment may need. Slots that it names are added to what is taken.
func attachmentRequest(a adapters.Attachment, taken *usage) request {
	switch {
	case a.PCI != nil && a.PCI.Conventional:
		return request{count: 1, bus: conventional}
	case a.PCI != nil:
		return request{count: 1, bus: express}
	case a.Args == nil:
		return request{}
	}
	var u usage
	u.scan(a.Args(adapters.FirstFD))
	for slot := range u.fixed {
		taken.fix(slot)
	}
	taken.early += u.early
	return request{count: u.later, bus: auto}
}

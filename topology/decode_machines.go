package topology

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// A machineEntry is an item of `machines`, before its count is expanded.
type machineEntry struct {
	Machine // without ID

	id    source.Value // absent where there is none that can be used
	count int          // 0 where there is none
	index int
	ok    bool
}

// machines decodes the machines of one document. It gives nil where there are problems.
func (d *decoder) machines(v source.Value) []*Machine {
	if !v.Present() {
		return nil
	}
	d.Enter("machines")
	defer d.Leave()
	entries, good, total := make([]machineEntry, 0, v.Len()), true, 0
	good = d.Items(v, "machines", func(i int, item source.Value) {
		e := machineEntry{index: i}
		e.ok = d.machine(item, &e)
		entries = append(entries, e)
		total += max(e.count, 1)
	}) && good
	if total > schema.MaxMachines {
		d.tooManyMachines(v, entries, total)
		return nil
	}
	return d.expandMachines(entries, total, good)
}

func (d *decoder) tooManyMachines(v source.Value, entries []machineEntry, total int) {
	at, sum := v, 0
	for _, e := range entries {
		if sum += max(e.count, 1); sum > schema.MaxMachines {
			if e.id.Present() {
				at = e.id
			}
			break
		}
	}
	d.Report(at, decode.Problem{
		Code:    schema.TooManyMachines,
		Message: fmt.Sprintf("the topology has %d machines, and %d are the most", total, schema.MaxMachines),
	})
}

func (d *decoder) machine(v source.Value, e *machineEntry) bool {
	r, ok := d.Section(d.templates.Resolve(v), schema.Machine)
	defer d.Done(r)
	e.Agent, e.Pos = LocalAgent, r.At.Pos()
	ok = all(ok,
		field(d, r, "id", &e.id, func(v source.Value) (source.Value, bool) {
			_, ok := d.Identifier(v)
			return v, ok
		}),
		field(d, r, "count", &e.count, d.machineCount),
		field(d, r, "placement", &e.Agent, d.placement),
	)
	var vhost *vhostEntry
	list := &deviceList{ok: true}
	if v := r.Get("vhost"); v.Present() {
		d.Enter("vhost")
		var good bool
		vhost, good = d.vhost(v)
		d.Leave()
		ok = ok && good
		e.Vhost = vhost.Vhost
	}
	if v := r.Get("devices"); v.Present() {
		d.Enter("devices")
		list, _ = d.devices(v)
		ok = d.machineDevices(v, list, vhost) && ok
		d.Leave()
		e.Devices = list.expanded
	}
	if vhost != nil {
		ok = d.machineDisks(e, vhost, list) && ok
	}
	return ok && vhost != nil
}

func (d *decoder) machineCount(v source.Value) (int, bool) {
	n, ok := d.Integer(v, 1, schema.MaxMachines)
	return int(n), ok
}

func (d *decoder) placement(v source.Value) (string, bool) {
	r, ok := d.Section(v, schema.Placement)
	defer d.Done(r)
	agent := LocalAgent
	ok = field(d, r, "agent", &agent, d.Identifier) && ok
	return agent, ok
}

// machineDevices checks a list of devices against the vhost they are for, which may be
// nil, and expands it.
func (d *decoder) machineDevices(v source.Value, list *deviceList, vhost *vhostEntry) bool {
	most, kind := schema.MaxDevices, (*kindEntry)(nil)
	if vhost != nil && vhost.kind != nil && !vhost.kind.broken {
		kind = vhost.kind
		most = kind.MaxDevices
	}
	if list.total > most {
		d.tooManyDevices(v, list, most, kind)
		return false
	}
	d.expand(list)
	ok := list.valid
	if kind == nil || kind.takesAttachments() {
		return ok
	}
	for i := range list.entries {
		if e := &list.entries[i]; e.kind != nil && !e.kind.broken && e.kind.attaches() {
			ok = false
			d.EnterItem(i)
			d.Report(e.at, decode.Problem{
				Code:    schema.AttachNotTaken,
				Message: fmt.Sprintf("devices of kind %q add arguments to their vhost, and kind %q has no place for them", e.kind.Name, kind.Name),
				Hint:    `the vhost's kind needs "{{attach}}" as an item of its args`,
				Related: kindRelated(kind.Kind),
			})
			d.Leave()
		}
	}
	return ok
}

func (d *decoder) tooManyDevices(v source.Value, list *deviceList, most int, kind *kindEntry) {
	at, sum := v, 0
	for i := range list.entries {
		if sum += list.entries[i].count; sum > most {
			at = list.entries[i].at
			break
		}
	}
	p := decode.Problem{
		Code:    schema.TooManyDevices,
		Message: fmt.Sprintf("the machine has %d devices, and %d are the most", list.total, most),
	}
	if kind != nil {
		p.Message = fmt.Sprintf("the machine has %d devices, and a vhost of kind %q takes %d", list.total, kind.Name, most)
		p.Related = kindRelated(kind.Kind)
	}
	d.ReportAt(at, at.Pos(), p)
}

// machineDisks binds the disks of devices to the vhost's image, and checks the
// identifiers of all disks of a machine.
func (d *decoder) machineDisks(e *machineEntry, vhost *vhostEntry, list *deviceList) bool {
	ok := true
	if list.shows && len(list.expanded) > 0 {
		e.Devices, ok = d.bindDevices(list, vhost)
	}
	if len(vhost.disks)+len(list.disks) == 0 {
		return ok
	}
	d.names.clear()
	for i := range vhost.disks {
		ok = d.diskName(&vhost.disks[i], 1) && ok
	}
	for i := range list.entries {
		for j := range list.entries[i].disks {
			ok = d.diskName(&list.entries[i].disks[j], list.entries[i].count) && ok
		}
	}
	return ok
}

func (d *decoder) diskName(disk *diskEntry, count int) bool {
	if disk.ID == "" {
		return false
	}
	earlier, clash := d.names.add(disk.ID, disk.id)
	switch {
	case clash:
		d.clash("disk", disk.ID, disk.id, earlier)
	case count > 1:
		d.Report(disk.id, decode.Problem{
			Code:    schema.DuplicateID,
			Message: fmt.Sprintf("disk %q is that of %d devices", disk.ID, count),
			Hint:    "write the devices out, each with disks of its own",
		})
	}
	return !clash && count == 1
}

// bindDevices gives the devices of one machine whose disks show its image. The devices
// are copies: other machines that share the list may have another image.
func (d *decoder) bindDevices(list *deviceList, vhost *vhostEntry) ([]*Device, bool) {
	devices, ok := make([]*Device, 0, len(list.expanded)), true
	for i := range list.entries {
		e := &list.entries[i]
		d.Enter("devices")
		d.EnterItem(i)
		d.Enter("disks")
		disks, good := d.bindImages(e.disks, vhost)
		ok = ok && good
		d.Leave()
		d.Leave()
		d.Leave()
		for range e.count {
			device := *list.expanded[len(devices)]
			device.Disks = nil
			for _, disk := range disks {
				device.Disks = append(device.Disks, disk.Disk)
			}
			devices = append(devices, &device)
		}
	}
	return devices, ok
}

// expandMachines makes machines of entries, and lets their kinds check them.
func (d *decoder) expandMachines(entries []machineEntry, total int, ok bool) []*Machine {
	machines := make([]*Machine, 0, total)
	ids := &nameSet{}
	ids.clear()
	for i := range entries {
		e := &entries[i]
		d.EnterItem(e.index)
		good := d.expandMachine(e, ids, &machines)
		ok = ok && good && e.ok
		if good && e.ok {
			d.checkKinds(machines[len(machines)-max(e.count, 1)])
		}
		d.Leave()
	}
	if !ok {
		return nil
	}
	return machines
}

func (d *decoder) expandMachine(e *machineEntry, ids *nameSet, machines *[]*Machine) bool {
	if !e.id.Present() {
		return false
	}
	made := make([]Machine, max(e.count, 1))
	for n := range made {
		m := &made[n]
		*m = e.Machine
		m.ID = e.id.Text()
		if e.count > 0 {
			m.ID += strconv.Itoa(n)
		}
		*machines = append(*machines, m)
	}
	// The last identifier is the longest. Of one entry's problems the first is reported.
	if !d.usable("machine", made[len(made)-1].ID, e.id, nil) || !d.usable("machine", made[0].ID, e.id, schema.ReservedMachines) {
		return false
	}
	for n := range made {
		if earlier, clash := ids.add(made[n].ID, e.id); clash {
			d.clash("machine", made[n].ID, e.id, earlier)
			return false
		}
	}
	return true
}

// checkKinds calls the check of each kind in a machine, once.
func (d *decoder) checkKinds(m *Machine) {
	d.checkKind(m.Vhost.Kind, m)
	var done []*Kind
	for _, device := range m.Devices {
		if k := device.Kind; k.Check != nil && !slices.Contains(done, k) {
			done = append(done, k)
			d.checkKind(k, m)
		}
	}
}

func (d *decoder) checkKind(k *Kind, m *Machine) {
	if k.Check == nil {
		return
	}
	k.Check(m, func(found diag.Diagnostic) {
		if found.Path == "" {
			found.Path = d.Path()
		}
		d.Sink.Add(found)
	})
}

package topology

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// A deviceEntry is an item of `devices`, before its count is expanded.
type deviceEntry struct {
	Device // without ID, Index and Disks

	at    source.Value
	kind  *kindEntry // nil where it is not known
	disks []diskEntry
	count int          // as written, at least 1
	named source.Value // what the identifiers are made of: id, use or kind
	own   bool         // named is the id
	many  bool         // there is a count
	ok    bool
}

// A deviceList is a sequence of devices. Machines that share the sequence share the list.
type deviceList struct {
	entries  []deviceEntry
	total    int  // of devices, with every count
	ok       bool // every entry is
	expanded []*Device
	valid    bool // expanded is, and all right
	disks    []diskEntry
	shows    bool // a disk shows the image of the vhost
}

func (d *decoder) devices(v source.Value) (*deviceList, bool) {
	return memo(d, v, "devices", nil, func(v source.Value) (*deviceList, bool) {
		list := &deviceList{entries: make([]deviceEntry, 0, v.Len()), ok: true}
		list.ok = d.Items(v, "devices", func(_ int, item source.Value) {
			list.entries = append(list.entries, deviceEntry{count: 1})
			e := &list.entries[len(list.entries)-1]
			d.device(item, e)
			list.total += e.count // both are at most 1024 and as many as a file can hold
			list.disks = append(list.disks, e.disks...)
		}) && list.ok
		for i := range list.entries {
			list.ok = list.ok && list.entries[i].ok
		}
		list.shows = slices.ContainsFunc(list.disks, func(e diskEntry) bool { return e.Image })
		return list, list.ok
	})
}

func (d *decoder) device(v source.Value, e *deviceEntry) {
	r, ok := d.Section(d.templates.Resolve(v), schema.Device)
	defer d.Done(r)
	e.at, e.kind = r.At, d.findKind(r, RoleDevice)
	d.naming(v, r, e)
	ok = all(ok,
		d.process(r, e.kind, &e.Process),
		field(d, r, "count", &e.count, d.deviceCount),
	)
	disks, disksOK := d.ownDisks(r, schema.DeviceBuses)
	e.disks = disks
	if e.kind != nil {
		regions, good := d.deviceRegions(r, e.kind)
		e.Regions = regions
		ok = all(ok, good, d.disksTaken(r, e, disksOK))
	} else {
		field(d, r, "regions", &e.Regions, d.regions)
	}
	e.ok = ok && disksOK && (e.named.Present() || d.Partial)
}

func (d *decoder) deviceCount(v source.Value) (int, bool) {
	n, ok := d.Integer(v, 1, schema.MaxDevices)
	return int(n), ok
}

// naming finds what the identifiers of a device are made of: its id, or the name in
// `use` as it is written in the entry itself, or the kind.
func (d *decoder) naming(v source.Value, r *decode.Record, e *deviceEntry) {
	e.many = r.Has("count")
	if id := r.Get("id"); id.Present() {
		d.Enter("id")
		if _, ok := d.Identifier(id); ok {
			e.named, e.own = id, true
		}
		d.Leave()
		return
	}
	if use, ok := v.Get("use"); ok && !use.Value.IsNull() {
		if d.templates.Has(textOf(use.Value)) {
			e.named = use.Value
		}
		return
	}
	if e.kind != nil {
		e.named = r.Get("kind")
	}
}

func textOf(v source.Value) string {
	if !v.IsScalar() {
		return ""
	}
	return v.Text()
}

// disksTaken checks that the kind of a device takes the disks it has, and has those that
// the kind refers to.
func (d *decoder) disksTaken(r *decode.Record, e *deviceEntry, certain bool) bool {
	if e.kind.broken {
		return true
	}
	if entry, has := r.Entry("disks"); has && !e.kind.TakesDisks && entry.Value.Len() > 0 {
		d.Report(entry.Key(), decode.Problem{
			Code:    schema.DisksNotTaken,
			Message: fmt.Sprintf("kind %q takes no disks", e.kind.Name),
			Related: kindRelated(e.kind.Kind),
		})
		return false
	}
	return certain && d.disksOfKind(r, e.kind, e.disks)
}

// expand makes the devices of a list, with their identifiers. The number of them must
// have been checked.
func (d *decoder) expand(list *deviceList) {
	if list.expanded != nil {
		return
	}
	devices := make([]Device, list.total)
	list.expanded = make([]*Device, 0, list.total)
	list.valid = list.ok
	var numbers map[string]int // the next of each base
	for i := range list.entries {
		e := &list.entries[i]
		base := textOf(e.named)
		for n := range e.count {
			device := &devices[len(list.expanded)]
			*device = e.Device
			device.Index = len(list.expanded)
			switch {
			case e.own && !e.many:
				device.ID = base
			case e.own:
				device.ID = base + strconv.Itoa(n)
			default:
				if numbers == nil {
					numbers = make(map[string]int)
				}
				device.ID = base + "-" + strconv.Itoa(numbers[base])
				numbers[base]++
			}
			for _, disk := range e.disks {
				device.Disks = append(device.Disks, disk.Disk)
			}
			list.expanded = append(list.expanded, device)
		}
	}
	list.valid = d.deviceNames(list) && list.ok
}

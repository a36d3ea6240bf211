package topology

import (
	"slices"

	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// A vhostEntry is a vhost with what the checks of its machine need.
type vhostEntry struct {
	*Vhost
	kind  *kindEntry // nil where it is not known
	at    source.Value
	image *imageEntry
	disks []diskEntry

	imageBroken bool // there is an image, and it cannot be used
}

func (d *decoder) vhost(v source.Value) (*vhostEntry, bool) {
	return memo(d, v, "vhost", nil, d.decodeVhost)
}

func (d *decoder) decodeVhost(v source.Value) (*vhostEntry, bool) {
	r, ok := d.Section(d.templates.Resolve(v), schema.Vhost)
	defer d.Done(r)
	e := &vhostEntry{Vhost: &Vhost{CPUs: 1}, at: r.At, kind: d.findKind(r, RoleVhost)}
	ok = all(ok,
		d.process(r, e.kind, &e.Process),
		field(d, r, "memory", &e.Memory, d.Size),
		field(d, r, "cpus", &e.CPUs, d.cpus),
		field(d, r, "image", &e.image, d.image),
		field(d, r, "boot", &e.Boot, d.boot),
		field(d, r, "expect", &e.Expect, d.expect),
	)
	if memory, has := r.Entry("memory"); has {
		e.MemoryPos = memory.Value.Pos()
		d.noteOrigin(e.MemoryPos, memory.Value)
	}
	if e.image != nil {
		e.Image = e.image.Image
	}
	return e, d.vhostDisks(r, e) && ok
}

func (d *decoder) cpus(v source.Value) (int, bool) {
	n, ok := d.Integer(v, 1, schema.MaxCPUs)
	return int(n), ok
}

// bootDisk is the identifier of the disk that shows the image of a vhost without disks.
const bootDisk = "boot"

// vhostDisks binds the disks of a vhost to its image, and gives a vhost that has an image
// and no disk the one that shows it.
func (d *decoder) vhostDisks(r *decode.Record, e *vhostEntry) bool {
	e.imageBroken = e.image == nil && r.Has("image")
	disks, ok := d.ownDisks(r, schema.VhostBuses)
	e.disks = disks
	if ok && len(disks) == 0 && e.image != nil {
		e.disks = []diskEntry{{
			Disk: &Disk{ID: bootDisk, Image: true, Mode: Overlay, Bus: schema.VhostBuses[0], Pos: e.image.at.Pos()},
			at:   e.image.at, id: e.image.at,
		}}
	}
	if ok {
		ok = d.imageFormat(e)
		if e.kind != nil {
			ok = d.disksOfKind(r, e.kind, e.disks) && ok
		}
	}
	d.Enter("disks")
	disks, bound := d.bindImages(e.disks, e)
	d.Leave()
	e.disks = disks
	for i := range disks {
		e.Disks = append(e.Disks, disks[i].Disk)
	}
	return all(ok, bound, !e.imageBroken)
}

// imageFormat checks that an image has a format, its own or that of a disk of its vhost
// which shows it.
func (d *decoder) imageFormat(e *vhostEntry) bool {
	if e.image == nil || e.image.Format != "" || e.image.format.Present() {
		return true
	}
	for _, disk := range e.disks {
		if disk.Image && disk.format.Present() {
			e.image.Format, e.image.format = disk.Format, disk.format
			return true
		}
	}
	d.Enter("image")
	defer d.Leave()
	d.Lacks(e.image.at, decode.Problem{
		Code: schema.MissingField, Message: `missing field "format" in image`, Hint: "write {path: FILE, format: raw} or format: qcow2",
	})
	return false
}

func (d *decoder) boot(v source.Value) (*Boot, bool) {
	return memo(d, v, "boot", nil, func(v source.Value) (*Boot, bool) {
		r, ok := d.Section(v, schema.Boot)
		defer d.Done(r)
		b := &Boot{}
		return b, all(ok, d.needsKernel(r),
			field(d, r, "kernel", &b.Kernel, d.artifact),
			field(d, r, "initrd", &b.Initrd, d.artifact),
			field(d, r, "append", &b.Append, d.Text),
			field(d, r, "firmware", &b.Firmware, d.artifact),
		)
	})
}

func (d *decoder) needsKernel(r *decode.Record) bool {
	if r.Has("kernel") || d.Partial || slices.Contains(r.Meant, "kernel") {
		return true
	}
	ok := true
	for _, name := range []string{"initrd", "append"} {
		if e, has := r.Entry(name); has {
			ok = false
			d.Report(e.Key(), decode.Problem{Code: schema.BootNeedsKernel, Message: "boot has " + name + " without kernel"})
		}
	}
	return ok
}

func (d *decoder) expect(v source.Value) (*Expect, bool) {
	return memo(d, v, "expect", nil, func(v source.Value) (*Expect, bool) {
		r, ok := d.Section(v, schema.Expect)
		defer d.Done(r)
		e := &Expect{}
		return e, all(ok, field(d, r, "pass", &e.Pass, d.Regexp), field(d, r, "fail", &e.Fail, d.Regexp))
	})
}

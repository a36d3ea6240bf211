package topology

import (
	"fmt"
	"slices"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/internal/source"
	"github.com/cosim-go/cosim/topology/schema"
)

// A diskEntry is a disk with the values that later checks point at.
type diskEntry struct {
	*Disk
	at, id, image, format source.Value
}

// disks reads the disks of a vhost or a device.
func (d *decoder) disks(v source.Value, buses []string) ([]diskEntry, bool) {
	return memo(d, v, buses[0]+" disks", nil, func(v source.Value) ([]diskEntry, bool) {
		disks, good := make([]diskEntry, 0, v.Len()), true
		ok := d.Items(v, "disks", func(_ int, item source.Value) {
			disk, ok := d.disk(item, buses)
			good = good && ok
			if disk.at.IsMapping() {
				disks = append(disks, disk)
			}
		})
		return disks, ok && good
	})
}

// ownDisks reads the field `disks` of a vhost or a device. It gives those that could be
// read, whether or not all could.
func (d *decoder) ownDisks(r *decode.Record, buses []string) ([]diskEntry, bool) {
	v := r.Get("disks")
	if !v.Present() {
		return nil, true
	}
	d.Enter("disks")
	defer d.Leave()
	disks, ok := d.disks(v, buses)
	if !d.Budget.Spend(len(disks), v) { // each machine looks at all of its disks
		return nil, false
	}
	return disks, ok
}

func (d *decoder) disk(v source.Value, buses []string) (diskEntry, bool) {
	r, ok := d.Section(d.templates.Resolve(v), schema.Disk)
	defer d.Done(r)
	disk := diskEntry{
		Disk: &Disk{Mode: Overlay, Bus: buses[0], Pos: v.Pos()},
		at:   r.At, id: r.Get("id"), image: r.Get("image"), format: r.Get("format"),
	}
	file, mode := Artifact{}, string(Overlay)
	imageRead := field(d, r, "image", &disk.Image, d.Bool)
	ok = all(ok, imageRead,
		field(d, r, "id", &disk.ID, d.Identifier),
		field(d, r, "path", &file.Path, d.path),
		field(d, r, "recipe", &file.Recipe, d.recipe),
		field(d, r, "format", &disk.Format, d.format),
		field(d, r, "mode", &mode, func(v source.Value) (string, bool) { return d.Enum(v, schema.DiskModes) }),
		field(d, r, "readonly", &disk.ReadOnly, d.Bool),
		field(d, r, "size", &disk.Size, d.Size),
		field(d, r, "bus", &disk.Bus, func(v source.Value) (string, bool) { return d.Enum(v, buses) }),
	)
	disk.Mode = DiskMode(mode)
	if !disk.Image {
		disk.File = &file
		ok = ok && d.noteRecipe(r, &file, disk.Format)
	}
	return disk, all(ok, imageRead && d.diskSource(r, &disk), d.diskSize(r, &disk))
}

// diskSource checks that a disk has one content, and a format with it.
func (d *decoder) diskSource(r *decode.Record, disk *diskEntry) bool {
	if !r.At.IsMapping() {
		return false
	}
	if disk.Image {
		ok := true
		for _, name := range []string{"path", "recipe"} {
			if e, has := r.Entry(name); has {
				ok = false
				d.Report(e.Key(), decode.Problem{
					Code: schema.BadDisk, Message: fmt.Sprintf("disk has %q beside image: true", name), Hint: "the vhost's `image` has both",
				})
			}
		}
		return ok
	}
	ok := true
	if !r.Has("path") {
		ok = false
		if !slices.Contains(r.Meant, "path") && !slices.Contains(r.Meant, "image") {
			d.Lacks(r.At, decode.Problem{Code: schema.MissingField, Message: `missing field "path" in disk`, Hint: "or image: true, for the image of the vhost"})
		}
	}
	if !r.Has("format") {
		ok = false
		if !slices.Contains(r.Meant, "format") {
			d.Missing(r.At, schema.Disk.Name, "format")
		}
	}
	return ok || d.Partial
}

// diskSize checks that a disk which is to be larger has an overlay that can be.
func (d *decoder) diskSize(r *decode.Record, disk *diskEntry) bool {
	e, has := r.Entry("size")
	why := ""
	switch {
	case !has:
	case disk.Mode != Overlay:
		why = fmt.Sprintf("mode %q has none", disk.Mode)
	case disk.ReadOnly:
		why = "a read-only disk has none"
	}
	if why == "" {
		return true
	}
	d.Report(e.Value, decode.Problem{Code: schema.BadDisk, Message: "size is that of the overlay, and " + why})
	return false
}

// bindImages gives the disks that show the image of a vhost its file and its format. It
// returns the disks, those that show an image as copies: others may share them whose
// vhost has another image.
func (d *decoder) bindImages(disks []diskEntry, vhost *vhostEntry) ([]diskEntry, bool) {
	if !slices.ContainsFunc(disks, func(e diskEntry) bool { return e.Image }) || d.Partial {
		return disks, true
	}
	disks = slices.Clone(disks)
	ok := true
	for i := range disks {
		if disks[i].Image {
			shown := *disks[i].Disk
			disks[i].Disk = &shown
			d.EnterItem(i)
			ok = d.bindImage(&disks[i], vhost) && ok
			d.Leave()
		}
	}
	return disks, ok
}

func (d *decoder) bindImage(disk *diskEntry, vhost *vhostEntry) bool {
	image := vhost.image
	switch {
	case image == nil && vhost.imageBroken:
		return false
	case image == nil:
		if !d.Uncertain(vhost.at) {
			d.Report(disk.image, decode.Problem{Code: schema.NoImage, Message: "disk shows the image of a vhost that has none", Hint: "give the vhost an `image`, or the disk a `path`"})
		}
		return false
	case disk.format.Present() && disk.Format == "":
		return false // which has been reported
	case disk.Format != "" && image.Format != "" && disk.Format != image.Format:
		d.Report(disk.format, decode.Problem{
			Code:    schema.FormatConflict,
			Message: fmt.Sprintf("disk takes the image for %s, which is %s", disk.Format, image.Format),
			Related: []diag.Related{{Pos: image.format.Pos(), Message: "format of the image"}},
		})
		return false
	}
	disk.File, disk.Format = &image.Artifact, image.Format
	return true
}

// disksOfKind checks that a vhost or device has the disks that its kind's text refers to.
func (d *decoder) disksOfKind(r *decode.Record, k *kindEntry, disks []diskEntry) bool {
	if len(k.disks.names) == 0 {
		return true
	}
	ok, here := true, make(map[string]bool, len(disks))
	for _, disk := range disks {
		here[disk.ID] = true
	}
	for _, id := range k.disks.names {
		if here[id] {
			continue
		}
		ok = false
		d.Lacks(r.At, decode.Problem{
			Code:    schema.MissingDisk,
			Message: fmt.Sprintf("kind %q refers to a disk %q, which is not here", k.Name, id),
			Related: kindRelated(k.Kind),
		})
	}
	return ok
}

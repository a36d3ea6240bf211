package plan

import (
	"fmt"

	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
)

const defaultQemuImg = "qemu-img"

// A diskUse is the first use of a disk file.
type diskUse struct {
	exclusive bool
	name      string // "<machine>/<disk>"
	pos       diag.Pos
}

// planDisks plans a machine's disks: the vhost's, then each device's.
func (m *maker) planDisks(model *topology.Machine, files resources) []Disk {
	out := []Disk{}
	for _, d := range model.Vhost.Disks {
		out = append(out, m.disk(model, d, "vhost", files))
	}
	for _, device := range model.Devices {
		for _, d := range device.Disks {
			out = append(out, m.disk(model, d, device.ID, files))
		}
	}
	return out
}

func (m *maker) disk(model *topology.Machine, d *topology.Disk, owner string, files resources) Disk {
	name := model.ID + "/" + d.ID
	usedBy := name
	if d.Image {
		usedBy = model.ID + "/image"
	}
	path := m.image(d.File, d.Format, usedBy, files)
	p := Disk{
		ID: d.ID, Owner: owner, Target: path, Backing: path, Format: d.Format,
		Mode: d.Mode, ReadOnly: d.ReadOnly, Size: d.Size, Lock: Lock{Mode: "shared"},
	}
	if d.Mode == topology.Direct && !d.ReadOnly {
		p.Lock.Mode = "exclusive"
		m.plan.Images[m.images[path]].Direct = true
	}
	if d.Mode != topology.Direct && !d.ReadOnly {
		p.Target = m.in.Session.Overlay(model.ID, d.ID)
	}
	if model.Remote() {
		return p
	}
	if p.Target != p.Backing {
		p.Tool = m.program(m.qemuImg(model, d), name)
	}
	resolved := m.in.Host.Resolve(path)
	p.Lock.Path = LockPath(m.in.Env.DiskLockDir, resolved)
	m.checkDiskUse(resolved, p.Lock.Mode == "exclusive", name, d)
	return p
}

// qemuImg is the program that makes a machine's overlays.
func (m *maker) qemuImg(model *topology.Machine, d *topology.Disk) topology.Path {
	if v, ok := model.Vhost.Params.Given("qemu_img"); ok {
		return topology.Path{Name: fmt.Sprint(v.Value), Pos: v.Pos}
	}
	return topology.Path{Name: defaultQemuImg, Pos: d.Pos}
}

// checkDiskUse refuses a file that one disk writes to while another uses it.
func (m *maker) checkDiskUse(resolved string, exclusive bool, name string, d *topology.Disk) {
	first, used := m.disks[resolved]
	if !used {
		m.disks[resolved] = diskUse{exclusive, name, d.Pos}
		return
	}
	if first.exclusive || exclusive {
		m.report(diag.List{{
			Pos: d.Pos, Code: CodeConflict,
			Message: fmt.Sprintf("disk %q uses the same file as disk %q, and a direct disk cannot be shared", name, first.name),
			Hint:    "use mode overlay or snapshot for both, or a file of its own",
			Related: []diag.Related{{Pos: first.pos, Message: fmt.Sprintf("disk %q is declared here", first.name)}},
		}})
	}
}

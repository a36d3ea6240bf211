package template

import (
	"strconv"
	"strings"
	"time"

	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
)

const (
	paramPrefix  = "params."
	regionPrefix = "regions."
	diskPrefix   = "disks."
)

// A value is what a placeholder stands for.
type value struct {
	text string
	path bool // the text is a path that the session or the host chose
}

func path(s string) value       { return value{s, true} }
func text(s string) value       { return value{text: s} }
func number(n uint64) value     { return text(strconv.FormatUint(n, 10)) }
func bytes(s layout.Size) value { return number(uint64(s)) }

// value finds what a placeholder stands for in this process.
func (f *filler) value(name string) (value, bool) {
	switch {
	case strings.HasPrefix(name, paramPrefix):
		return f.param(name[len(paramPrefix):])
	case strings.HasPrefix(name, regionPrefix):
		return f.region(name[len(regionPrefix):])
	case strings.HasPrefix(name, diskPrefix):
		return f.disk(name[len(diskPrefix):])
	}
	if v, ok := f.common(name); ok {
		return v, true
	}
	if f.device != nil {
		return f.ofDevice(name)
	}
	return value{}, false
}

func (f *filler) common(name string) (value, bool) {
	s, m := f.m.Session, f.m
	switch name {
	case "session.name":
		return text(s.Name), true
	case "run_dir":
		return path(s.RunDir), true
	case "workspace":
		return path(s.Workspace), true
	case "layout":
		return path(s.Layout), true
	case "machine.id":
		return text(m.Model.ID), true
	case "machine.dir":
		return path(m.Dir), true
	case "vhost.memory":
		return bytes(m.Model.Vhost.Memory), true
	case "vhost.cpus":
		return number(uint64(m.Model.Vhost.CPUs)), true
	case "pool.path":
		return path(m.Layout.Pool), true
	case "pool.size":
		return bytes(m.Layout.Size), true
	case "log":
		return path(f.log), true
	}
	return value{}, false
}

func (f *filler) ofDevice(name string) (value, bool) {
	switch name {
	case "device.id":
		return text(f.device.ID), true
	case "device.index":
		return number(uint64(f.device.Index)), true
	case "socket":
		return path(f.paths.Socket), true
	case "out_dir":
		return path(f.paths.OutDir), true
	case "fd":
		return number(uint64(f.fd)), f.process.Kind.Template.Channel
	}
	return value{}, false
}

// region answers NAME.offset and NAME.size, where NAME is a region of the device or the
// guest's memory.
func (f *filler) region(name string) (value, bool) {
	name, field, _ := strings.Cut(name, ".")
	if name != layout.MemoryRegion {
		if f.device == nil {
			return value{}, false
		}
		name = f.device.ID + "." + name
	}
	r, ok := f.m.Layout.Region(name)
	switch field {
	case "offset":
		return number(uint64(r.Offset)), ok
	case "size":
		return bytes(r.Size), ok
	}
	return value{}, false
}

// disk answers ID.path and ID.format, where ID is a disk of this process.
func (f *filler) disk(name string) (value, bool) {
	id, field, _ := strings.Cut(name, ".")
	for _, d := range f.process.Disks {
		if d.ID != id {
			continue
		}
		switch file := f.m.Disks[id]; field {
		case "path":
			return path(file.Path), true
		case "format":
			return text(file.Format), true
		}
	}
	return value{}, false
}

// param writes a parameter's value: a size in bytes, a duration as Go prints it, a path
// absolute.
func (f *filler) param(name string) (value, bool) {
	switch v := f.process.Params.Value(name).(type) {
	case string:
		if p := f.process.Kind.Param(name); p != nil && p.Type == topology.TypePath {
			return path(f.m.Files.Resource(v)), true
		}
		return text(v), true
	case int64:
		return text(strconv.FormatInt(v, 10)), true
	case bool:
		return text(strconv.FormatBool(v)), true
	case layout.Size:
		return bytes(v), true
	case time.Duration:
		return text(v.String()), true
	}
	return value{}, false
}

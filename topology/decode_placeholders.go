package topology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosim-go/cosim/topology/internal/decode"
	"github.com/cosim-go/cosim/topology/layout"
	"github.com/cosim-go/cosim/topology/schema"
)

const memoryRegion = layout.MemoryRegion

// everywhere and inDevices are the placeholders whose names are fixed.
var (
	everywhere = []string{
		"session.name", "run_dir", "workspace", "layout", "machine.id", "machine.dir",
		"vhost.memory", "vhost.cpus", "pool.path", "pool.size", "log",
	}
	inDevices = []string{"device.id", "device.index", "socket", "out_dir"}
)

// check says what is wrong with a placeholder. Sole means that it is a whole text.
func (s *scope) check(name string, at position, sole bool) (p decode.Problem, bad bool) {
	group, rest, _ := strings.Cut(name, ".")
	switch {
	case slices.Contains(everywhere, name):
		return p, false
	case slices.Contains(inDevices, name):
		return s.only(name, RoleDevice)
	case name == "fd":
		return s.fd()
	case name == "attach":
		return s.attachPlace(at, sole)
	case group == "regions" && rest != "":
		return s.region(name, rest)
	case group == "params" && rest != "":
		return s.param(name, rest, at, sole)
	case group == "disks" && rest != "":
		return s.disk(name, rest)
	}
	return s.unknown(name)
}

func (s *scope) unknown(name string) (decode.Problem, bool) {
	return decode.Problem{
		Code:    schema.UnknownPlaceholder,
		Message: fmt.Sprintf("unknown placeholder {{%s}}", name),
		Hint:    s.Suggest(name, s.valid(), "placeholders"),
	}, true
}

// valid lists the placeholders that have a value in the kind.
func (s *scope) valid() []string {
	if s.names == nil {
		s.names = s.listNames()
	}
	return s.names
}

func (s *scope) listNames() []string {
	names := slices.Clone(everywhere)
	names = append(names, "regions.memory.offset", "regions.memory.size")
	for _, p := range s.kind.Params {
		names = append(names, "params."+p.Name)
	}
	if s.kind.Role == RoleVhost {
		return append(names, "attach")
	}
	for _, r := range s.kind.Template.Regions {
		names = append(names, "regions."+r.Name+".offset", "regions."+r.Name+".size")
	}
	if s.kind.Template.Channel {
		names = append(names, "fd")
	}
	return append(names, inDevices...)
}

func misplaced(name, why, hint string) (decode.Problem, bool) {
	return decode.Problem{Code: schema.BadPlaceholder, Message: fmt.Sprintf("placeholder {{%s}} %s", name, why), Hint: hint}, true
}

func (s *scope) only(name string, role Role) (p decode.Problem, bad bool) {
	if s.kind.Role == role {
		return p, false
	}
	return misplaced(name, fmt.Sprintf("has a value in %s kinds alone", role), "")
}

func (s *scope) fd() (p decode.Problem, bad bool) {
	if p, bad = s.only("fd", RoleDevice); bad || s.kind.Template.Channel || s.unsure["channel"] {
		return p, bad
	}
	return misplaced("fd", "has no value without a channel", "add channel: true to the kind")
}

func (s *scope) attachPlace(at position, sole bool) (p decode.Problem, bad bool) {
	if p, bad = s.only("attach", RoleVhost); bad || at == inArgs && sole {
		return p, bad
	}
	return misplaced("attach", "must be an argument of `args` by itself", "it becomes as many arguments as the devices add")
}

func (s *scope) region(name, rest string) (p decode.Problem, bad bool) {
	region, what, _ := strings.Cut(rest, ".")
	if s.unsure["regions"] {
		return p, false
	}
	if region != memoryRegion && !s.regions[region] || what != "offset" && what != "size" {
		return s.unknown(name)
	}
	return p, false
}

func (s *scope) param(name, rest string, at position, sole bool) (p decode.Problem, bad bool) {
	if s.unsure["params"] {
		return p, false
	}
	param := s.kind.param(rest)
	if param == nil {
		return s.unknown(name)
	}
	if param.Type == TypeStrings && (!sole || at == inText) {
		return misplaced(name, "is of type strings and must be an argument by itself", "")
	}
	return p, false
}

// disk notes a disk that the kind refers to. Whether it is there depends on the user.
func (s *scope) disk(name, rest string) (p decode.Problem, bad bool) {
	disk, what, _ := strings.Cut(rest, ".")
	if disk == "" || what != "path" && what != "format" {
		return misplaced(name, "is not one of a disk", `write "disks.ID.path" or "disks.ID.format"`)
	}
	s.kind.disks.add(disk)
	return p, false
}

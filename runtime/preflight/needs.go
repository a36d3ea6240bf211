package preflight

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cosim-go/cosim/runtime/plan"
)

// A feature is something that not every QEMU has.
type feature struct {
	option string // of the command line that it stands in
	name   string // of the device or object; empty for a property of an option
	what   string // in words
	since  version
	hint   string // more about where it is
}

// Features that the adapters use. First releases as QEMU's own documents and sources
// tell: docs/system/multi-process.rst, hw/remote/vfio-user-obj.c, hw/vfio-user/pci.c,
// qapi/qom.json.
var features = []feature{
	{"-device", "x-pci-proxy-dev", "device", version{6, 0}, "distributions build it in"},
	{"-object", "x-remote-object", "object", version{6, 0}, "distributions build it in"},
	{"-object", "x-vfio-user-server", "object", version{7, 1}, "it has to be built with --enable-vfio-user-server; `transport: fd` does without"},
	{"-device", "vfio-user-pci", "device", version{10, 1}, ""},
	{"-object", "", "property \"offset\" of a memory-backend-file", version{8, 1}, ""},
}

func (f *feature) String() string {
	if f.name == "" {
		return f.what
	}
	return fmt.Sprintf("%s %q", f.what, f.name)
}

// A need is a feature that processes of one QEMU binary use.
type need struct {
	program string
	feature *feature
	by      []string // processes
}

// needsOf lists what the plan's QEMU processes need, in order of first use.
func needsOf(processes []plan.Process) []*need {
	type key struct {
		program string
		feature *feature
	}
	known := map[key]*need{}
	var list []*need
	for i := range processes {
		p := &processes[i]
		if !isQEMU(p) {
			continue
		}
		for _, f := range featuresOf(p.Args) {
			k := key{p.Program, f}
			if known[k] == nil {
				known[k] = &need{program: p.Program, feature: f}
				list = append(list, known[k])
			}
			known[k].by = append(known[k].by, p.ID)
		}
	}
	return list
}

// isQEMU tells the processes whose options are QEMU's.
func isQEMU(p *plan.Process) bool {
	return p.Kind == "qemu-vhost" || p.Kind == "qemu-device" || strings.HasPrefix(filepath.Base(p.Program), "qemu-system-")
}

// featuresOf lists the features that a command line uses, each once.
func featuresOf(args []string) []*feature {
	var used []*feature
	for i := 0; i+1 < len(args); i++ {
		if args[i] != "-device" && args[i] != "-object" {
			continue
		}
		for n := range features {
			f := &features[n]
			if f.option == args[i] && f.usedBy(args[i+1]) && !slices.Contains(used, f) {
				used = append(used, f)
			}
		}
	}
	return used
}

// usedBy reports whether an option's value, which is either JSON or a list with commas,
// uses the feature.
func (f *feature) usedBy(value string) bool {
	name, properties := splitOption(value)
	if f.name != "" {
		return name == f.name
	}
	return name == "memory-backend-file" && slices.Contains(properties, "offset")
}

func splitOption(value string) (name string, properties []string) {
	if strings.HasPrefix(value, "{") {
		var fields map[string]any
		json.Unmarshal([]byte(value), &fields)
		for key, v := range fields {
			if s, ok := v.(string); ok && (key == "driver" || key == "qom-type") {
				name = s
			}
			properties = append(properties, key)
		}
		return name, properties
	}
	// A doubled comma stands for one in a value, so it splits off no property here that
	// is not one: what is behind it only looks like a property when it has the form.
	parts := strings.Split(strings.ReplaceAll(value, ",,", "\x00"), ",")
	for _, p := range parts[1:] {
		key, _, _ := strings.Cut(p, "=")
		properties = append(properties, key)
	}
	return parts[0], properties
}

package topology

import (
	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/schema"
)

// builtinKinds is a catalogue with every rule that a built-in kind can have.
func builtinKinds() []*Kind {
	least := int64(4)
	return []*Kind{
		{
			Name: "qemu-vhost", Role: RoleVhost, MaxDevices: 64, TakesDisks: true, Program: Path{Name: "qemu-system-x86_64"},
			Params: []Param{
				{Name: "machine", Type: TypeString, Default: "q35"},
				{Name: "accel", Type: TypeEnum, Values: []string{"auto", "kvm", "tcg"}, Default: "auto"},
				{Name: "reboot", Type: TypeBool, Default: false},
			},
			Check: oneGEM5,
		},
		{
			Name: "gem5-mi300x", Role: RoleDevice, Program: Path{Name: "gem5.opt"},
			RegionsRequired: []string{"vram"}, RegionsOnly: true,
			Params: []Param{
				{Name: "script", Type: TypePath, Default: "configs/example/gpufs/mi300_cosim.py"},
				{Name: "memory", Type: TypeEnum, Values: []string{"pool", "separate"}, Default: "pool"},
				{Name: "compute_units", Type: TypeInt, Default: int64(40), Min: &least, MultipleOf: 4},
				{Name: "gem5_args", Type: TypeStrings},
			},
		},
		{
			Name: "qemu-device", Role: RoleDevice, TakesDisks: true, Program: Path{Name: "qemu-system-x86_64"},
			Params: []Param{
				{Name: "device", Type: TypeString, Required: true},
				{Name: "properties", Type: TypeMapping},
				{Name: "transport", Type: TypeEnum, Values: []string{"fd", "vfio-user"}, Default: "fd"},
			},
		},
	}
}

// oneGEM5 is a rule across devices: all of them have the same style of memory.
func oneGEM5(m *Machine, report func(diag.Diagnostic)) {
	style := ""
	for _, d := range m.Devices {
		if d.Kind.Name != "gem5-mi300x" {
			continue
		}
		if s := d.Params.String("memory"); style != "" && s != style {
			v, _ := d.Params.Given("memory")
			report(diag.Diagnostic{Pos: v.Pos, Code: schema.BadParam, Message: "one machine cannot mix styles of memory"})
		} else {
			style = s
		}
	}
}

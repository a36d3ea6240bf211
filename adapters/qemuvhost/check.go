package qemuvhost

import (
	"fmt"
	"strings"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
)

// check reports what QEMU would refuse when it starts.
func check(m *topology.Machine, report func(diag.Diagnostic)) {
	checkMachine(m.Vhost, report)
	checkIDE(m.Vhost, report)
}

// checkMachine refuses the machines that have a conventional root bus: devices are
// placed on pcie.0.
func checkMachine(v *topology.Vhost, report func(diag.Diagnostic)) {
	given, ok := v.Params.Given("machine")
	if !ok {
		return
	}
	name, _, _ := strings.Cut(v.Params.String("machine"), ",")
	if name == "pc" || name == "isapc" || strings.HasPrefix(name, "pc-i440fx") {
		report(diag.Diagnostic{
			Pos: given.Pos, Code: adapters.CodeMachineType,
			Message: fmt.Sprintf("QEMU machine %q has no PCI Express root bus", name),
			Hint:    "use q35, or one of its versions such as pc-q35-7.2",
		})
	}
}

func checkIDE(v *topology.Vhost, report func(diag.Diagnostic)) {
	n := 0
	for _, d := range v.Disks {
		if pciDisk(d) {
			continue
		}
		n++
		if n == ideBuses+1 {
			report(diag.Diagnostic{
				Pos: d.Pos, Code: adapters.CodeDiskLimit,
				Message: fmt.Sprintf("disk %q is one too many on bus ide, which takes %d", d.ID, ideBuses),
				Hint:    "put further disks on bus virtio or nvme",
			})
		}
		if d.ReadOnly {
			report(diag.Diagnostic{
				Pos: d.Pos, Code: adapters.CodeReadOnlyDisk,
				Message: fmt.Sprintf("disk %q is readonly, but a disk on bus ide must be writable", d.ID),
				Hint:    "use bus virtio or nvme, or leave readonly out: mode snapshot keeps the file as it is",
			})
		}
	}
}

package qemudevice

import (
	"fmt"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
)

// check reports what the QEMU of a device would refuse.
func check(m *topology.Machine, report func(diag.Diagnostic)) {
	for _, d := range m.Devices {
		if d.Kind.Name == Name {
			checkProperties(d, report)
			checkDrive(d, report)
		}
	}
}

// checkProperties refuses properties that are ours to set. The place of the device is
// chosen in the vhost, not here.
func checkProperties(d *topology.Device, report func(diag.Diagnostic)) {
	given, _ := d.Params.Given("properties")
	for _, p := range properties(d) {
		hint := ""
		switch p.name {
		case "driver":
			hint = "name the QEMU device with the param device"
		case "id":
			hint = "a device is known to QEMU by its own identifier"
		case "drive":
			hint = "list the disk in the device's disks"
		default:
			continue
		}
		report(diag.Diagnostic{
			Pos: given.Pos, Code: adapters.CodeDeviceProperty,
			Message: fmt.Sprintf("property %q of device %q is set by kind %s", p.name, d.ID, Name),
			Hint:    hint,
		})
	}
}

func checkDrive(d *topology.Device, report func(diag.Diagnostic)) {
	n := 0
	for _, disk := range d.Disks {
		if disk.Bus != busDrive {
			continue
		}
		n++
		if n == 2 {
			report(diag.Diagnostic{
				Pos: disk.Pos, Code: adapters.CodeDiskLimit,
				Message: fmt.Sprintf("disk %q is one too many for device %q, which has one drive", disk.ID, d.ID),
				Hint:    "put disks of a SCSI controller on bus scsi, others in a device of their own",
			})
		}
	}
}

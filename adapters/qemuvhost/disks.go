package qemuvhost

import (
	"strconv"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/internal/qemuarg"
	"github.com/cosim-go/cosim/topology"
)

// ideBuses is how many buses the SATA controller of q35 has, with one disk each
// (QEMU hw/ide/ich.c, six ports).
const ideBuses = 6

// pciDisk reports whether a disk is a PCI device of its own.
func pciDisk(d *topology.Disk) bool { return d.Bus != "ide" }

// diskArgs gives the nodes and the device of each of the vhost's disks. Places are by
// disk, empty for one that is no PCI device.
func diskArgs(m *adapters.Machine, places []adapters.PCIPlace) []string {
	var args []string
	ide, boots := 0, !directBoot(m.Model.Vhost)
	for i, d := range m.Model.Vhost.Disks {
		args = append(args, qemuarg.Blockdev(i, m.Disks[d.ID])...)
		o := diskDevice(d).Add("id", qemuarg.DiskID(d.ID)).Add("drive", qemuarg.Node(i))
		if pciDisk(d) {
			o.Place(places[i])
		} else {
			o.Add("bus", "ide."+strconv.Itoa(ide))
			ide++
		}
		if d.Image && boots {
			o.Add("bootindex", "0")
			boots = false // QEMU takes an index once
		}
		args = append(args, "-device", o.String())
	}
	return args
}

// directBoot reports whether the guest's kernel is given; QEMU boots it before any disk
// and then has no other first entry.
func directBoot(v *topology.Vhost) bool { return v.Boot != nil && v.Boot.Kernel != nil }

func diskDevice(d *topology.Disk) *qemuarg.Options {
	switch d.Bus {
	case "nvme":
		return qemuarg.NewOptions("nvme").Add("serial", d.ID) // a drive needs one
	case "ide":
		return qemuarg.NewOptions("ide-hd")
	}
	return qemuarg.NewOptions("virtio-blk-pci")
}

// Package qemudevice renders PCI devices of QEMU that run in a process of their own:
// kind qemu-device.
//
// Two transports join such a device to the machine it is in. Over "fd", the default, the
// device's QEMU and the vhost's are the two ends of multi-process QEMU, joined by an
// inherited socket pair (QEMU 6.2 and later). Over "vfio-user" the device's QEMU listens
// on a socket; it must be built with the vfio-user server, which distributions leave out,
// and the vhost's QEMU must be 10.1 or later.
package qemudevice

import (
	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
)

// Name is the name of the kind.
const Name = "qemu-device"

// The transports.
const (
	overFD       = "fd"
	overVFIOUser = "vfio-user"
)

// The buses of a device's disks.
const (
	busDrive = "drive" // the model's own drive property
	busSCSI  = "scsi"  // a disk on the model's SCSI bus
)

// New returns the adapter of kind qemu-device.
func New() adapters.DeviceAdapter { return adapter{} }

type adapter struct{}

var kind = &topology.Kind{
	Name:       Name,
	Role:       topology.RoleDevice,
	Program:    topology.Path{Name: "qemu-system-x86_64"},
	TakesDisks: true,
	Params: []topology.Param{
		{Name: "device", Type: topology.TypeString, Required: true, Doc: "QEMU PCI device to host, such as nvme."},
		{Name: "properties", Type: topology.TypeMapping, Doc: "Properties of the QEMU device."},
		{Name: "transport", Type: topology.TypeEnum, Values: []string{overFD, overVFIOUser}, Default: overFD, Doc: "How the vhost reaches the device: a socket pair of multi-process QEMU, or a vfio-user socket."},
	},
	Check: check,
}

// Kind describes qemu-device.
func (adapter) Kind() *topology.Kind { return kind }

// Package qemuvhost renders machines that QEMU runs: kind qemu-vhost.
//
// The guest's memory is the start of the machine's pool, mapped shared, so that the
// processes of its devices see it too. Every PCI device and disk is put at a bus and a
// slot of its own, behind bridges and root ports where the root bus is full. What the
// user writes in args comes last and is passed on as it is.
package qemuvhost

import (
	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
)

// Name is the name of the kind.
const Name = "qemu-vhost"

// New returns the adapter of kind qemu-vhost.
func New() adapters.VhostAdapter { return adapter{} }

type adapter struct{}

var kind = &topology.Kind{
	Name:       Name,
	Role:       topology.RoleVhost,
	MaxDevices: topology.DefaultMaxDevices,
	Program:    topology.Path{Name: "qemu-system-x86_64"},
	TakesDisks: true,
	Params: []topology.Param{
		{Name: "machine", Type: topology.TypeString, Default: "q35", Doc: "QEMU machine with a PCI Express root bus; further machine options may follow after a comma."},
		{Name: "accel", Type: topology.TypeEnum, Values: []string{"auto", "kvm", "tcg"}, Default: "auto", Doc: "Accelerator; auto is kvm where the host can use it, else tcg."},
		{Name: "cpu", Type: topology.TypeString, Doc: "CPU model; host under kvm and max under tcg where it is not given."},
		{Name: "reboot", Type: topology.TypeBool, Default: false, Doc: "Whether a guest that reboots starts again; else it ends the machine."},
		{Name: "qemu_img", Type: topology.TypeString, Default: "qemu-img", Doc: "Program that makes the overlays of the machine's disks."},
	},
	Check: check,
}

// Kind describes qemu-vhost.
func (adapter) Kind() *topology.Kind { return kind }

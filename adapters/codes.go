package adapters

import "github.com/cosim-go/cosim/topology/schema"

// The codes of the diagnostics that adapters add to those of package schema.
const (
	CodeDeviceProperty = "device-property"
	CodeDiskLimit      = "disk-limit"
	CodeMachineType    = "machine-type"
	CodeMemorySplit    = "memory-split"
	CodeMemoryStyle    = "memory-style"
	CodePathCharacter  = "path-character"
	CodePCISlots       = "pci-slots"
	CodeReadOnlyDisk   = "readonly-disk"
)

// Codes lists the codes above. All but path-character and pci-slots, which show when a
// plan is made, are found by checking a topology.
var Codes = []schema.Code{
	{Name: CodeDeviceProperty, Doc: "A property of a QEMU device is one that its kind sets itself."},
	{Name: CodeDiskLimit, Doc: "A bus or a device model has more disks than it takes."},
	{Name: CodeMachineType, Doc: "A QEMU machine has no PCI Express root bus."},
	{Name: CodeMemorySplit, Doc: "An option moves guest memory where a device does not look for it."},
	{Name: CodeMemoryStyle, Doc: "Processes of one machine look for the guest's memory in different places."},
	{Name: CodePathCharacter, Doc: "A path of the session has a character that would break the text it is put into."},
	{Name: CodePCISlots, Doc: "A machine has more disks and devices than its PCI buses have slots."},
	{Name: CodeReadOnlyDisk, Doc: "A readonly disk is on a bus whose disks must be writable."},
}

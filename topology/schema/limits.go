package schema

import "time"

// Limits of a topology. Those of a field stand in its table too.
const (
	Version        = 1    // of documents
	MaxIdentifier  = 48   // characters of an identifier
	MaxMachines    = 4096 // machines of a topology
	MaxDevices     = 1024 // what max_devices of a kind may be at most
	DefaultDevices = 64   // max_devices where a kind does not say
	MaxCPUs        = 1024

	MinDuration = time.Millisecond
	MaxDuration = 24 * time.Hour

	MaxFile    = 64 << 20 // bytes of a document
	MaxNesting = 64       // levels of mappings and sequences in a document
	MaxNodes   = 8 << 20  // values visited through aliases and templates in one load
)

// Legal words. Enum fields refer to them.
var (
	Formats          = []string{"raw", "qcow2"}
	DiskModes        = []string{"overlay", "snapshot", "direct"}
	VhostBuses       = []string{"virtio", "nvme", "ide"} // of a vhost's disk; the first is the default
	DeviceBuses      = []string{"drive", "scsi"}         // of a device's disk; the first is the default
	Roles            = []string{"vhost", "device"}
	ParamTypes       = []string{"string", "strings", "int", "size", "bool", "enum", "path", "duration"}
	StopSignals      = []string{"TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "KILL"}
	AttachShort      = "vfio-user" // stands for the JSON -device of QEMU's vfio-user client
	ReadyNone        = "none"      // stands for no condition
	ReservedMachines = []string{"memory"}
	// ReservedDevices name files in the directory of a machine.
	ReservedDevices = []string{"vhost", "qmp", "serial"}
)

package qemuarg

// ID turns an identifier of a topology into one for QEMU, which must begin with a
// letter (QEMU util/id.c, id_wellformed). One that does is kept; any other gets a
// prefix with a dot, which no identifier of a topology holds, so that two never meet.
func ID(id string) string {
	if c := id[0]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		return id
	}
	return "dev." + id
}

// DiskID is the identifier of a disk's device. Disks and devices of one machine may
// have the same identifier, so it holds a dot.
func DiskID(id string) string { return "disk." + id }

// The identifiers of what cosim itself adds to a QEMU. The dot keeps them apart from
// those of devices.
const (
	MemoryID = "cosim.ram"
	QMPID    = "cosim.qmp"
	SerialID = "cosim.serial"
	RemoteID = "cosim.remote"
)

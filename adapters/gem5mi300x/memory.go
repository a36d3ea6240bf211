package gem5mi300x

import (
	"fmt"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
)

// shmDir is where the C library keeps POSIX shared-memory objects: shm_open("/name")
// opens /dev/shm/name, and no further slash may stand in the name.
const shmDir = "/dev/shm"

func separated(d *topology.Device) bool { return d.Params.String("memory") == separate }

func poolOptions(m *adapters.Machine, d *topology.Device) []string {
	guest, _ := m.Layout.Region(layout.MemoryRegion)
	return []string{
		"--shmem-host-path=" + m.Layout.Pool,
		fmt.Sprintf("--shmem-host-offset=%d", guest.Offset),
		"--shmem-path=" + m.Layout.Pool,
		fmt.Sprintf("--shmem-offset=%d", vram(m, d).Offset),
	}
}

// An object is a POSIX shared-memory object, with its name as shm_open takes it.
type object struct {
	adapters.File
	name string
}

func newObject(m *adapters.Machine, suffix, region string, size layout.Size) object {
	name := "/cosim-" + m.Session.Hash + "-" + m.Model.ID + suffix
	return object{adapters.File{Region: region, Path: shmDir + name, Size: size}, name}
}

func guestFile(m *adapters.Machine) object {
	return newObject(m, "", layout.MemoryRegion, m.Model.Vhost.Memory)
}

// vramFile names the object after machine and device. No identifier holds a dot, so the
// names of machine "a" with device "b-c" and of machine "a-b" with device "c" differ.
func vramFile(m *adapters.Machine, d *topology.Device) object {
	r := vram(m, d)
	return newObject(m, "."+d.ID, r.Name, r.Size)
}

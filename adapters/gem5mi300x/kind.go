// Package gem5mi300x renders GPUs that gem5's MI300X model serves over vfio-user:
// kind gem5-mi300x.
//
// gem5 and QEMU share the guest's memory, and gem5 keeps its VRAM in shared memory too.
// In the memory style "pool" both are regions of the machine's pool, which takes a gem5
// whose script accepts paths and offsets (see [New]). In the style "separate" both are
// POSIX shared-memory objects of their own, as the script of the public fork names them.
package gem5mi300x

import (
	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
)

// Name is the name of the kind.
const Name = "gem5-mi300x"

// VRAM is the name of the region that each device has.
const VRAM = "vram"

// The memory styles.
const (
	pool     = "pool"
	separate = "separate"
)

// New returns the adapter of kind gem5-mi300x.
//
// In the memory style "pool" the script is given --shmem-host-path and --shmem-path with
// the path of the pool, and --shmem-host-offset and --shmem-offset with the offsets of
// the guest's memory and of the VRAM in bytes. A script for it opens a name with a
// further slash as a plain file, maps it at the offset, passes the offset on to the
// vfio-user regions, and neither truncates nor unlinks the file.
func New() adapters.DeviceAdapter { return adapter{} }

type adapter struct{}

var kind = &topology.Kind{
	Name:    Name,
	Role:    topology.RoleDevice,
	Program: topology.Path{Name: "gem5.opt"},
	Params: []topology.Param{
		{Name: "script", Type: topology.TypePath, Default: "configs/example/gpufs/mi300_cosim.py", Doc: "gem5 configuration script."},
		{Name: "memory", Type: topology.TypeEnum, Values: []string{pool, separate}, Default: pool, Doc: "Whether guest memory and VRAM are regions of the pool or files of their own; the same for all devices of a machine."},
		// 4 compute units share one instruction cache (gem5 configs/example/gpufs/mi300.py).
		{Name: "compute_units", Type: topology.TypeInt, Default: int64(40), Min: ptr(4), MultipleOf: 4, Doc: "Number of compute units, a multiple of 4."},
		{Name: "debug_flags", Type: topology.TypeString, Doc: "gem5 debug flags, separated by commas."},
		{Name: "listener", Type: topology.TypeEnum, Values: []string{"off", "on", "auto"}, Default: "off", Doc: "Whether gem5 opens TCP ports for gdb and terminals."},
		{Name: "gem5_args", Type: topology.TypeStrings, Doc: "Further options of gem5 itself, which stand before the script; args come after it."},
	},
	RegionsRequired: []string{VRAM},
	RegionsOnly:     true,
	Check:           check,
}

func ptr(n int64) *int64 { return &n }

// Kind describes gem5-mi300x.
func (adapter) Kind() *topology.Kind { return kind }

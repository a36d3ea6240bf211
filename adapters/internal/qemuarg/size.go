package qemuarg

import (
	"strconv"

	"github.com/cosim-go/cosim/topology/layout"
)

// Size writes a size for an option of type size: whole MiB as 32768M, anything else in
// bytes. QEMU's suffixes are binary.
func Size(s layout.Size) string {
	if s%layout.MiB == 0 {
		return strconv.FormatUint(uint64(s/layout.MiB), 10) + "M"
	}
	return strconv.FormatUint(uint64(s), 10)
}

// memoryAlign is what QEMU rounds the value of -m up to (QEMU softmmu/vl.c,
// set_memory_options in 7.2; hw/core/machine.c, machine_set_mem later).
const memoryAlign = 8 * layout.KiB

// Memory gives the -m argument for a machine whose memory backend has a size. It is
// left out where QEMU would round it and then find the backend too small; QEMU takes
// the backend's size then. Without a suffix -m would count MiB, so bytes have a B.
func Memory(s layout.Size) []string {
	switch {
	case s%memoryAlign != 0:
		return nil
	case s%layout.MiB == 0:
		return []string{"-m", Size(s)}
	}
	return []string{"-m", Size(s) + "B"}
}

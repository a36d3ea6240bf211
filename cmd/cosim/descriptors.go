package main

import (
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// sealDescriptors keeps what this process inherited, such as the lock of a script that
// runs cosim, from the programs that it starts: they would hold it open, and some for
// longer than this process lives. Descriptors that Go opens are sealed from the start.
func sealDescriptors() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, err := os.ReadDir("/proc/self/fd") // before Linux 5.11
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

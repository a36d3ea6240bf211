package cartridge

import (
	"bytes"
	"os"
	"strconv"

	"github.com/cosim-go/cosim/relay/frame"
)

// residentMemory returns the resident memory of this process in MiB: the second number of /proc/self/statm, which is in
// pages (proc_pid_statm(5)).
func residentMemory() frame.Optional[uint64] {
	data, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(data)
	if err != nil || len(fields) < 2 {
		return frame.Optional[uint64]{}
	}
	pages, err := strconv.ParseUint(string(fields[1]), 10, 40)
	if err != nil {
		return frame.Optional[uint64]{}
	}
	return frame.Some(pages * uint64(os.Getpagesize()) >> 20)
}

package supervise

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// A procStat is part of /proc/<pid>/stat, see proc(5).
type procStat struct {
	state byte   // 'Z' and 'X' are dead
	group int    // process group
	start uint64 // clock ticks from the boot to the start
}

func readStat(pid int) (procStat, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, err
	}
	return parseStat(data)
}

// parseStat counts fields from the end of the command, which is in parentheses and may
// itself hold spaces and parentheses.
func parseStat(data []byte) (procStat, error) {
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 20 {
		return procStat{}, fmt.Errorf("stat of a process has %d fields behind its name", len(fields))
	}
	group, err := strconv.Atoi(string(fields[2]))
	if err != nil {
		return procStat{}, err
	}
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	return procStat{fields[0][0], group, start}, err
}

func (s procStat) dead() bool { return s.state == 'Z' || s.state == 'X' }

// pids lists the processes there are.
func pids() ([]int, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	list := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			list = append(list, pid)
		}
	}
	return list, err
}

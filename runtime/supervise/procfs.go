package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A procStat is part of /proc/<pid>/stat, see proc(5).
type procStat struct {
	state  byte   // 'Z' and 'X' are dead
	group  int    // process group
	start  uint64 // clock ticks from the boot to the start
	memory uint64 // bytes of virtual memory; 0 for a kernel thread, and at the very end
	envEnd uint64 // where the environment ends; 0 until a new program has one, and where it is not for us to know
}

func readStat(pid int) (procStat, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return procStat{}, err
	}
	return parseStat(data)
}

// parseStat counts fields from the end of the command, which is in parentheses and may
// itself hold spaces and parentheses. The first one behind it is the state, number 3.
func parseStat(data []byte) (procStat, error) {
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 49 {
		return procStat{}, fmt.Errorf("stat of a process has %d fields behind its name", len(fields))
	}
	var errs [4]error
	stat := procStat{state: fields[0][0]}
	stat.group, errs[0] = strconv.Atoi(fields[5-3])
	stat.start, errs[1] = strconv.ParseUint(fields[22-3], 10, 64)
	stat.memory, errs[2] = strconv.ParseUint(fields[23-3], 10, 64)
	stat.envEnd, errs[3] = strconv.ParseUint(fields[51-3], 10, 64)
	return stat, errors.Join(errs[:]...)
}

func (s procStat) dead() bool { return s.state == 'Z' || s.state == 'X' }

// executing reports whether the process is in the middle of executing a program, when
// the old environment is gone and the new one not there yet.
func (s procStat) executing() bool { return s.memory > 0 && s.envEnd == 0 }

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

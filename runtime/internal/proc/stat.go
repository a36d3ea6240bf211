package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A stat is part of /proc/<pid>/stat, see proc(5).
type stat struct {
	state  byte   // 'Z' and 'X' are dead
	parent int    // process
	group  int    // process group
	start  uint64 // clock ticks from the boot to the start
	memory uint64 // bytes of virtual memory; 0 for a kernel thread, and at the very end
	envEnd uint64 // where the environment ends; 0 until a new program has one, and where it is not for us to know
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(file(pid, "stat"))
	if err != nil {
		return stat{}, err
	}
	return parseStat(text)
}

// parseStat counts fields from the end of the command, which is in parentheses and may
// itself hold spaces and parentheses. The first one behind it is the state, number 3.
func parseStat(text []byte) (stat, error) {
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 49 {
		return stat{}, fmt.Errorf("stat of a process has %d fields behind its name", len(fields))
	}
	var errs [5]error
	s := stat{state: fields[0][0]}
	s.parent, errs[0] = strconv.Atoi(fields[4-3])
	s.group, errs[1] = strconv.Atoi(fields[5-3])
	s.start, errs[2] = strconv.ParseUint(fields[22-3], 10, 64)
	s.memory, errs[3] = strconv.ParseUint(fields[23-3], 10, 64)
	s.envEnd, errs[4] = strconv.ParseUint(fields[51-3], 10, 64)
	return s, errors.Join(errs[:]...)
}

func (s stat) dead() bool { return s.state == 'Z' || s.state == 'X' }

// executing reports whether the process is in the middle of executing a program, when
// the old environment is gone and the new one not there yet.
func (s stat) executing() bool { return s.memory > 0 && s.envEnd == 0 }

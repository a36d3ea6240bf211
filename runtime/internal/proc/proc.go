// Package proc identifies processes by what Linux tells of them in /proc (proc(5)).
package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// An ID names one process for as long as the host is up: its number may be used again
// after its end, but not with the same start time.
type ID struct {
	PID       int
	StartTime uint64 // clock ticks after boot, field 22 of /proc/<pid>/stat
}

// Self is the ID of this process.
func Self() (ID, error) { return Lookup(os.Getpid()) }

// Lookup gives the ID of a process that runs now.
func Lookup(pid int) (ID, error) {
	s, err := readStat(pid)
	return ID{pid, s.start}, err
}

// Alive reports whether the process still runs. One that has ended and waits for its
// parent does not. Where the start time cannot be read (another user's process may be
// hidden), a process of that number counts.
func (id ID) Alive() bool {
	if id.PID <= 0 {
		return false
	}
	s, err := readStat(id.PID)
	if err != nil {
		return errors.Is(unix.Kill(id.PID, 0), unix.EPERM)
	}
	return s.start == id.StartTime && s.state != 'Z' && s.state != 'X'
}

// BootID changes with each boot of the host (random(4)).
func BootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

// All lists the processes of the host.
func All() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Has reports whether the environment that a process was started with holds
// "name=value". It is false where the environment cannot be read.
func Has(pid int, name, value string) bool {
	text, err := os.ReadFile(file(pid, "environ"))
	if err != nil {
		return false
	}
	return bytes.Contains(append([]byte{0}, text...), []byte("\x00"+name+"="+value+"\x00"))
}

// Variable is a variable of the environment that a process was started with, empty
// where it has none.
func Variable(pid int, name string) string {
	text, _ := os.ReadFile(file(pid, "environ"))
	for v := range strings.SplitSeq(string(text), "\x00") {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// Lineage is this process and all that it descends from.
func Lineage() map[int]bool {
	line := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !line[pid]; {
		line[pid] = true
		s, err := readStat(pid)
		if err != nil {
			break
		}
		pid = s.parent
	}
	return line
}

// Owner is the user that a process belongs to.
func Owner(pid int) (uid int, err error) {
	var st unix.Stat_t
	if err := unix.Stat(file(pid, ""), &st); err != nil {
		return 0, err
	}
	return int(st.Uid), nil
}

type stat struct {
	state  byte
	parent int
	start  uint64
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(file(pid, "stat"))
	if err != nil {
		return stat{}, err
	}
	// The second field is the program's name in parentheses, and may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return stat{}, fmt.Errorf("%s has %d fields behind the name, want 20", file(pid, "stat"), len(fields))
	}
	s := stat{state: fields[0][0]}
	if s.parent, err = strconv.Atoi(fields[1]); err != nil {
		return stat{}, err
	}
	s.start, err = strconv.ParseUint(fields[19], 10, 64)
	return s, err
}

func file(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

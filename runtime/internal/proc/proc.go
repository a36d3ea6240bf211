// Package proc identifies processes by what Linux tells of them in /proc (proc(5)), and
// finds and kills those that carry a mark in their environment.
package proc

import (
	"errors"
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
	return s.start == id.StartTime && !s.dead()
}

// BootID changes with each boot of the host (random(4)).
func BootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

// All lists the processes of the host. With an error it lists those that it came to.
func All() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	list := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			list = append(list, pid)
		}
	}
	return list, err
}

// InGroup reports whether a process is a member of a process group, and not dead.
func InGroup(pid, group int) bool {
	s, err := readStat(pid)
	return err == nil && s.group == group && !s.dead()
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

func file(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

package supervise

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// A Leftover is a process that carries the mark of a session.
type Leftover struct {
	PID       int
	StartTime uint64 // clock ticks since the boot, as in /proc/<pid>/stat
	Process   string // whose child it is, an identifier of the plan; may be empty
}

// Leftovers lists the processes of this user that carry the mark of a session and are
// not dead, but for the caller. The mark is looked for in the environment that a process
// was started with.
func Leftovers(mark string) ([]Leftover, error) {
	list, err := pids()
	var found []Leftover
	for _, pid := range list {
		if l, ok := leftover(pid, mark); ok && pid != os.Getpid() {
			found = append(found, l)
		}
	}
	return found, err
}

// leftover looks at one process. One that ends meanwhile, or that we may not look into,
// is none.
func leftover(pid int, mark string) (Leftover, bool) {
	dir := fmt.Sprintf("/proc/%d", pid)
	fi, err := os.Stat(dir)
	if err != nil || fi.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
		return Leftover{}, false
	}
	environ, err := os.ReadFile(dir + "/environ")
	if err != nil {
		return Leftover{}, false
	}
	vars := bytes.Split(environ, []byte{0})
	if value, ok := lookup(vars, markVar); !ok || value != mark {
		return Leftover{}, false
	}
	stat, err := readStat(pid)
	if err != nil || stat.dead() {
		return Leftover{}, false
	}
	process, _ := lookup(vars, processVar)
	return Leftover{pid, stat.start, process}, true
}

func lookup(vars [][]byte, name string) (string, bool) {
	for _, v := range vars {
		if value, ok := bytes.CutPrefix(v, []byte(name+"=")); ok {
			return string(value), true
		}
	}
	return "", false
}

// KillLeftovers sends SIGKILL to what carries the mark of a session until nothing is
// left, and returns what it killed and, if the context ends before, what is left.
func KillLeftovers(ctx context.Context, mark string) (killed, left []Leftover) {
	_ = poll(ctx, func() bool {
		found, err := Leftovers(mark)
		left = found
		for _, l := range killed {
			if l.alive() && !slices.Contains(left, l) {
				left = append(left, l) // it lost its environment, and has not let go of all else
			}
		}
		for _, l := range found {
			if kill(l, mark) && !slices.Contains(killed, l) {
				killed = append(killed, l)
			}
		}
		return err == nil && len(left) == 0
	})
	return killed, left
}

func (l Leftover) alive() bool {
	stat, err := readStat(l.PID)
	return err == nil && stat.start == l.StartTime && !stat.dead()
}

// kill kills a process that is still the one that was found: the handle is taken
// before the second look, and the signal goes to the handle.
func kill(l Leftover, mark string) bool {
	handle, err := os.FindProcess(l.PID)
	if err != nil {
		return false
	}
	defer handle.Release()
	if again, ok := leftover(l.PID, mark); !ok || again != l {
		return false
	}
	return handle.Signal(os.Kill) == nil
}

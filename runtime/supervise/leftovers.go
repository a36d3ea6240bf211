package supervise

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
)

// A Leftover is a process that carries the mark of a session.
type Leftover struct {
	PID       int
	StartTime uint64 // clock ticks since the boot, as in /proc/<pid>/stat
	Process   string // whose child it is, an identifier of the plan; may be empty
}

// Leftovers lists the processes of this user that carry the mark of a session and are
// not dead, but for the caller. The mark is looked for in the environment that a process
// was started with. A process that is just being executed, or made by one that is just
// ending, may be missed; [KillLeftovers] looks until none can be.
func Leftovers(mark string) ([]Leftover, error) {
	found, _, err := scan(mark)
	return found, err
}

// scan also tells whether it is sure to have seen all: what ended while we looked may
// have left a child that was not there when we began.
func scan(mark string) (found []Leftover, sure bool, err error) {
	list, err := pids()
	sure = err == nil
	for _, pid := range list {
		if pid == os.Getpid() {
			continue
		}
		l, what := look(pid, mark)
		if what == marked {
			found = append(found, l)
		}
		sure = sure && what != unknown
	}
	return found, sure, err
}

// What a look at a process may show.
type sight int

const (
	foreign sight = iota // another user's, dead, or without the mark
	marked
	unknown // it has gone, or its environment is not there yet
)

// look looks at one process.
func look(pid int, mark string) (Leftover, sight) {
	dir := fmt.Sprintf("/proc/%d", pid)
	fi, err := os.Stat(dir)
	if err != nil {
		return Leftover{}, unknown
	}
	if fi.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
		return Leftover{}, foreign
	}
	environ, err := os.ReadFile(dir + "/environ")
	stat, statErr := readStat(pid)
	if len(environ) == 0 && err == nil {
		environ, err = os.ReadFile(dir + "/environ") // it may have come before the status was read
	}
	switch {
	case statErr != nil:
		return Leftover{}, unknown
	case stat.dead() || err != nil: // or it is not for us to look into
		return Leftover{}, foreign
	case stat.executing():
		return Leftover{}, unknown
	}
	vars := bytes.Split(environ, []byte{0})
	if value, ok := lookup(vars, markVar); !ok || value != mark {
		return Leftover{}, foreign
	}
	process, _ := lookup(vars, processVar)
	return Leftover{pid, stat.start, process}, marked
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
	began := time.Now()
	_ = poll(ctx, func() bool {
		found, sure, err := scan(mark)
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
		if len(left) > 0 {
			began = time.Now()
		}
		return err == nil && len(left) == 0 && (sure || time.Since(began) > unsureLimit)
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
	if again, what := look(l.PID, mark); what != marked || again != l {
		return false
	}
	return handle.Signal(os.Kill) == nil
}

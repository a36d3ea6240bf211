package preflight

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/topology/layout"
)

// What a supervisor keeps open: for each process a pipe, a log, a handle, a monitor, a
// serial log, and one end of a channel until its other end is started; and the rest of
// the program.
const (
	filesPerProcess = 6
	filesBesides    = 32
)

func (c *checker) limits() {
	var files, memory unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		c.refuse(openFiles(&c.plan.Launch, files.Max)...)
	}
	// A process with CAP_IPC_LOCK, such as root's, is not limited (getrlimit(2)).
	if os.Geteuid() != 0 && unix.Getrlimit(unix.RLIMIT_MEMLOCK, &memory) == nil {
		c.refuse(lockedMemory(&c.plan.Launch, memory.Cur)...)
	}
}

// openFiles compares what the supervisor will open with the hard limit, to which the Go
// runtime raises its own.
func openFiles(l *plan.Launch, limit uint64) []Problem {
	locks := map[string]bool{}
	for i := range l.Machines {
		for _, d := range l.Machines[i].Disks {
			locks[d.Lock.Path] = true
		}
	}
	need := filesBesides + filesPerProcess*len(l.Processes) + len(locks)
	if uint64(need) <= limit {
		return nil
	}
	return []Problem{{
		Message: fmt.Sprintf("%d processes need %d open files, the limit is %d", len(l.Processes), need, limit),
		Hint:    "raise it (ulimit -Hn), or run fewer machines",
	}}
}

// lockedMemory looks for a QEMU that is told to lock its guest's memory, and would not
// start where it may not.
func lockedMemory(l *plan.Launch, limit uint64) []Problem {
	var problems []Problem
	for i := range l.Processes {
		p := &l.Processes[i]
		at := slices.Index(p.Args, "-overcommit")
		if at < 0 || at+1 == len(p.Args) || !slices.Contains(strings.Split(p.Args[at+1], ","), "mem-lock=on") {
			continue
		}
		for _, m := range l.Machines {
			if m.ID == p.Machine && uint64(m.Pool.Size) > limit {
				problems = append(problems, Problem{
					Message: fmt.Sprintf("process %q locks %s of memory, the limit is %s", p.ID, m.Pool.Size.Human(), layout.Size(limit).Human()),
					Hint:    "raise it (ulimit -l), or leave mem-lock off",
				})
			}
		}
	}
	return problems
}

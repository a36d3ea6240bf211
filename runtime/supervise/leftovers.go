package supervise

import (
	"context"
	"os"

	"github.com/cosim-go/cosim/runtime/internal/proc"
)

// A Leftover is a process that carries the mark of a session.
type Leftover struct {
	PID       int
	StartTime uint64 // clock ticks since the boot, as in /proc/<pid>/stat
	Process   string // whose child it is, an identifier of the plan; may be empty
}

// marked searches for what carries the mark of a session, but for the caller.
func marked(mark string) *proc.Search {
	return &proc.Search{Name: markVar, Value: mark, Label: processVar, Spared: map[int]bool{os.Getpid(): true}}
}

// KillLeftovers sends SIGKILL to what carries the mark of a session until nothing is
// left, and returns what it killed and, if the context ends before, what is left. These
// are processes of this user that are not dead, but for the caller. The mark is looked
// for in the environment that a process was started with.
func KillLeftovers(ctx context.Context, mark string) (killed, left []Leftover) {
	always := func(error) bool { return true } // what cannot be killed now may be in the next round
	dead, alive, _ := marked(mark).Kill(ctx, 0, always)
	return leftovers(dead), leftovers(alive)
}

func leftovers(list []proc.Marked) []Leftover {
	var all []Leftover
	for _, m := range list {
		all = append(all, Leftover{PID: m.PID, StartTime: m.StartTime, Process: m.Label})
	}
	return all
}

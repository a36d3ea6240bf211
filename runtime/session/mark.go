package session

import (
	"context"
	"fmt"
	"time"

	"github.com/cosim-go/cosim/runtime/internal/proc"
)

// Variables in the environment of each process of a session. With the process's start
// time and the boot ID they prove whose it is.
const (
	MarkVariable    = "COSIM_SESSION" // the session's Mark
	ProcessVariable = "COSIM_PROCESS" // identifier in the plan, "<machine>/vhost" or "<machine>/<device>"
)

// A Process is a process that carries a session's mark.
type Process struct {
	ID  string // identifier in the plan; empty where it is not known
	PID int
}

// How often processes are found before we give up, since one that is about to be killed
// may still start another; and how long one may take to end after SIGKILL.
const (
	killRounds   = 10
	killPatience = 5 * time.Second
)

// KillMarked kills the processes of a session with SIGKILL, those that they started
// included, and waits for their end. A process is proven to be the session's by this: it
// belongs to this user, it was started with the session's mark in its environment, and
// it started during the boot given and not before the start time of the session's
// supervisor. This process and those it descends from are never killed.
func KillMarked(mark, bootID string, since uint64) ([]Process, error) {
	boot, err := proc.BootID()
	if err != nil {
		return nil, err
	}
	if boot != bootID {
		return nil, nil
	}
	search := proc.Search{Name: MarkVariable, Value: mark, Label: ProcessVariable, Since: since, Spared: proc.Lineage()}
	rounds := 0
	dead, left, err := search.Kill(context.Background(), killPatience, func(err error) bool {
		rounds++
		return err == nil && rounds < killRounds
	})
	var killed []Process
	for _, m := range dead {
		killed = append(killed, Process{ID: m.Label, PID: m.PID})
	}
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("processes of session %s go on starting others", mark)
	}
	return killed, err
}

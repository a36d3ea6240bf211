package session

import (
	"errors"
	"fmt"
	"os"
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

// How often processes are looked for, since one that is about to be killed may still
// start another; and how long one may take to end after SIGKILL.
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
	var killed []Process
	for range killRounds {
		found, err := marked(mark, since)
		if err != nil || len(found) == 0 {
			return killed, err
		}
		var errs []error
		for _, id := range found {
			p := Process{ID: proc.Variable(id.PID, ProcessVariable), PID: id.PID}
			dead, err := id.Kill(killPatience, func() bool { return proc.Has(id.PID, MarkVariable, mark) })
			if err != nil {
				errs = append(errs, fmt.Errorf("killing process %d (%s): %w", id.PID, p.ID, err))
			} else if dead {
				killed = append(killed, p)
			}
		}
		if errs != nil {
			return killed, errors.Join(errs...)
		}
	}
	return killed, fmt.Errorf("processes of session %s go on starting others", mark)
}

func marked(mark string, since uint64) ([]proc.ID, error) {
	pids, err := proc.All()
	if err != nil {
		return nil, err
	}
	ours := proc.Lineage()
	var found []proc.ID
	for _, pid := range pids {
		if ours[pid] || !proc.Has(pid, MarkVariable, mark) {
			continue
		}
		owner, err := proc.Owner(pid)
		if err != nil || owner != os.Geteuid() {
			continue
		}
		if id, err := proc.Lookup(pid); err == nil && id.StartTime >= since && id.Alive() {
			found = append(found, id)
		}
	}
	return found, nil
}

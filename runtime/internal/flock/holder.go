package flock

import (
	"fmt"
	"strings"

	"github.com/cosim-go/cosim/runtime/internal/proc"
)

// A Holder is who holds a lock.
type Holder struct {
	Name string // of a session; holds no space or line feed
	proc.ID
}

// Me is this process as a holder.
func Me(name string) (Holder, error) {
	id, err := proc.Self()
	return Holder{name, id}, err
}

// String gives the line that stands in a lock file: name, pid, start time.
func (h Holder) String() string { return fmt.Sprintf("%s %d %d", h.Name, h.PID, h.StartTime) }

// living reads the holders in a lock file, those that have ended left out: a lock ends
// with its process, the line about it does not.
func living(content string) []Holder {
	var list []Holder
	for line := range strings.Lines(content) {
		var h Holder
		if n, _ := fmt.Sscanf(line, "%s %d %d", &h.Name, &h.PID, &h.StartTime); n == 3 && h.Alive() {
			list = append(list, h)
		}
	}
	return list
}

// A HeldError says that a lock is held by somebody else.
type HeldError struct {
	Path    string   // of the lock file
	Holders []Holder // empty where they are not known
}

func (e *HeldError) Error() string { return fmt.Sprintf("lock %q is held by %s", e.Path, e.By()) }

// By names the holders in words.
func (e *HeldError) By() string {
	if len(e.Holders) == 0 {
		return "another process"
	}
	names := make([]string, len(e.Holders))
	for i, h := range e.Holders {
		names[i] = fmt.Sprintf("session %q (pid %d)", h.Name, h.PID)
	}
	return strings.Join(names, ", ")
}

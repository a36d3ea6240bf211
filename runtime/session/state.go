package session

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cosim-go/cosim/runtime/internal/durable"
	"github.com/cosim-go/cosim/runtime/internal/proc"
	"github.com/cosim-go/cosim/topology/layout"
)

// StateVersion is the version of the session.json that this package writes.
const StateVersion = 1

// A Phase is how far a session has come.
type Phase string

// The phases of a session.
const (
	Starting Phase = "starting"
	Running  Phase = "running"
	Stopping Phase = "stopping"
	Ended    Phase = "ended"
)

// A State is the content of session.json. Whether the session lives is not told by it,
// since a supervisor that was killed leaves it behind: ask [Inspect].
type State struct {
	Version      int            `json:"version"`
	Name         string         `json:"name"`
	Phase        Phase          `json:"state"`
	Topology     string         `json:"topology"`
	PID          int            `json:"pid"`        // of the supervisor
	StartTime    uint64         `json:"start_time"` // of the supervisor, in clock ticks after boot
	BootID       string         `json:"boot_id"`
	Started      time.Time      `json:"started"`
	Ended        *time.Time     `json:"ended"`         // null until then
	ExitCode     *int           `json:"exit_code"`     // null until then
	FirstFailure string         `json:"first_failure"` // one line; empty where nothing failed
	Processes    []ProcessState `json:"processes"`
}

// A ProcessState is what became of one process of the plan.
type ProcessState struct {
	ID         string `json:"id"`
	PID        int    `json:"pid"`         // 0 before the start
	StartTime  uint64 `json:"start_time"`  // in clock ticks after boot
	State      string `json:"state"`       // the supervisor's word for it
	ExitStatus *int   `json:"exit_status"` // null while it runs, and where a signal ended it
	Signal     string `json:"signal"`      // that ended it, such as "KILL"; empty where none did
}

// NewState describes a session that this process starts to supervise now.
func NewState(l Layout, topology string, now time.Time) (*State, error) {
	self, err := proc.Self()
	if err != nil {
		return nil, err
	}
	boot, err := proc.BootID()
	if err != nil {
		return nil, err
	}
	return &State{
		Version: StateVersion, Name: l.Name, Phase: Starting, Topology: topology,
		PID: self.PID, StartTime: self.StartTime, BootID: boot, Started: now.UTC(), Processes: []ProcessState{},
	}, nil
}

// WriteState replaces session.json as a whole.
func WriteState(path string, s *State) error { return writeJSON(path, s) }

// ReadState reads a session.json. The error wraps fs.ErrNotExist where there is none.
func ReadState(path string) (*State, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &State{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("reading %q: %w", path, err)
	}
	if s.Version != StateVersion {
		return nil, fmt.Errorf("reading %q: its version is %d, this cosim knows version %d", path, s.Version, StateVersion)
	}
	return s, nil
}

// WriteLayout replaces layout.json as a whole: name, offset and size of each machine's
// regions, in bytes.
func WriteLayout(path string, l layout.Layout) error { return writeJSON(path, l) }

// ReadLayout reads a layout.json. The error wraps fs.ErrNotExist where there is none.
func ReadLayout(path string) (layout.Layout, error) {
	var l layout.Layout
	text, err := os.ReadFile(path)
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("reading %q: %w", path, err)
	}
	if l.Version != layout.Version {
		return l, fmt.Errorf("reading %q: its version is %d, this cosim knows version %d", path, l.Version, layout.Version)
	}
	return l, nil
}

// WriteFile replaces a file of the session, such as plan.json, as a whole by what write
// writes.
func WriteFile(path string, write func(io.Writer) error) error { return durable.Write(path, write) }

func writeJSON(path string, v any) error {
	return durable.Write(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(v)
	})
}

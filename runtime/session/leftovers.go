package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// leftovers are the places of an earlier session, as its plan.json tells them. Only
// what can belong to a session is taken over: a file that somebody edited cannot lead
// to the removal of anything else.
type leftovers struct {
	name      string
	poolDir   string // empty where there is none
	socketDir string // empty where the sockets were in the run directory
	machines  []machineLeftovers
}

type machineLeftovers struct {
	id       string
	overlays []string // names in the machine's directory
	files    []string // absolute paths of regions that are files of their own
}

// An UnreadableError says that the plan of the session before cannot be read, so that
// nobody knows what that session has left.
type UnreadableError struct {
	Path string
	Err  error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("reading the plan of the session before, %q: %v", e.Path, e.Err)
}

// Unwrap gives the error of the reading.
func (e *UnreadableError) Unwrap() error { return e.Err }

// Hint says what to do about it.
func (e *UnreadableError) Hint() string {
	return "look for what that session may have left, then remove the file"
}

// Remember reads the plan that this session has recorded, so that what it names is
// removed at the end even if the record is gone by then.
func (k *Lock) Remember() error {
	left, err := readLeftovers(k.layout)
	k.wrote = left
	return err
}

// planned is the part of plan.json that names what a session makes.
type planned struct {
	Launch struct {
		Session struct {
			Name      string `json:"name"`
			PoolDir   string `json:"pool_dir"`
			SocketDir string `json:"socket_dir"`
		} `json:"session"`
		Machines []struct {
			ID   string `json:"id"`
			Pool struct {
				Regions []struct {
					File string `json:"file"`
				} `json:"regions"`
			} `json:"pool"`
			Disks []struct {
				ID      string `json:"id"`
				Target  string `json:"target"`
				Backing string `json:"backing"`
			} `json:"disks"`
		} `json:"machines"`
	} `json:"launch"`
}

// readLeftovers reads the plan of the session that ran in the run directory before. It
// returns nil where there is no plan: then nothing was made.
func readLeftovers(l Layout) (*leftovers, error) {
	text, err := os.ReadFile(l.PlanFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &UnreadableError{l.PlanFile(), err}
	}
	var p planned
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, &UnreadableError{l.PlanFile(), err}
	}
	s := &p.Launch.Session
	left := &leftovers{name: s.Name}
	if filepath.IsAbs(s.PoolDir) {
		left.poolDir = filepath.Clean(s.PoolDir)
	}
	if filepath.IsAbs(s.SocketDir) && filepath.Base(s.SocketDir) == "cosim-"+l.Hash {
		left.socketDir = filepath.Clean(s.SocketDir)
	}
	for _, m := range p.Launch.Machines {
		if !identifier(m.ID) {
			continue
		}
		one := machineLeftovers{id: m.ID}
		for _, d := range m.Disks {
			if d.Target != d.Backing {
				one.overlays = append(one.overlays, d.ID+".qcow2")
			}
		}
		for _, r := range m.Pool.Regions {
			if filepath.IsAbs(r.File) && strings.HasPrefix(filepath.Base(r.File), "cosim-"+l.Hash+"-") {
				one.files = append(one.files, r.File)
			}
		}
		left.machines = append(left.machines, one)
	}
	return left, nil
}

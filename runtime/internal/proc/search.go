package proc

import (
	"bytes"
	"os"
)

// A Search looks for the processes of this user that carry a mark: a variable in the
// environment that they were started with. What a process starts inherits it.
type Search struct {
	Name, Value string       // of the variable that is the mark
	Label       string       // name of the variable that tells what a process is
	Since       uint64       // a process that started before is none, in clock ticks after boot; 0 for no bound
	Spared      map[int]bool // processes that are none whatever they carry
}

// A Marked is a process that carries a mark.
type Marked struct {
	ID
	Label string // value of the variable that tells what it is; may be empty
}

// Find lists the processes that carry the mark and are not dead. It also tells whether
// it is sure to have seen all: one that is just being executed, or made by one that is
// just ending, may have been missed. With an error it lists those that it came to.
func (s *Search) Find() (found []Marked, sure bool, err error) {
	list, err := All()
	sure = err == nil
	for _, pid := range list {
		if s.Spared[pid] {
			continue
		}
		m, what := s.look(pid)
		if what == marked {
			found = append(found, m)
		}
		sure = sure && what != unknown
	}
	return found, sure, err
}

// What a look at a process may show.
type sight int

const (
	foreign sight = iota // another user's, dead, without the mark, or too old
	marked
	unknown // it has gone, or its environment is not there yet
)

// look looks at one process.
func (s *Search) look(pid int) (Marked, sight) {
	owner, err := Owner(pid)
	if err != nil {
		return Marked{}, unknown
	}
	if owner != os.Geteuid() {
		return Marked{}, foreign
	}
	environ, err := os.ReadFile(file(pid, "environ"))
	stat, statErr := readStat(pid)
	if len(environ) == 0 && err == nil {
		environ, err = os.ReadFile(file(pid, "environ")) // it may have come before the status was read
	}
	switch {
	case statErr != nil:
		return Marked{}, unknown
	case stat.dead() || err != nil: // or it is not for us to look into
		return Marked{}, foreign
	case stat.executing():
		return Marked{}, unknown
	}
	vars := bytes.Split(environ, []byte{0})
	if stat.start < s.Since || !has(vars, s.Name+"="+s.Value) {
		return Marked{}, foreign
	}
	return Marked{ID{pid, stat.start}, value(vars, s.Label)}, marked
}

func has(vars [][]byte, variable string) bool {
	for _, v := range vars {
		if string(v) == variable {
			return true
		}
	}
	return false
}

// value is empty where there is no such variable.
func value(vars [][]byte, name string) string {
	for _, v := range vars {
		if value, ok := bytes.CutPrefix(v, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}

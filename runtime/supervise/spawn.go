package supervise

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/internal/proc"
)

// The variables that every process of a session carries.
const (
	markVar    = "COSIM_SESSION"
	processVar = "COSIM_PROCESS"
)

// A child is a process that was started.
type child struct {
	pid     int
	pidfd   int
	started time.Time
	ticks   uint64 // its start in clock ticks since the boot
	group   *group
	pump    *pump

	ended     func(status unix.WaitStatus, at time.Time) // called once, when it was reaped
	exited    chan struct{}                              // closed once it was reaped
	gone      chan struct{}                              // closed once nothing of its group is left
	abandoned chan struct{}                              // closed if SIGKILL did not end it
}

// A spawner makes children. It belongs to the starter's thread.
type spawner struct {
	mark     string
	base     []string // environment
	dirs     []string // of the session
	null     *os.File
	channels channels
}

// spawn executes a process. Its lines go to match, see newPump.
func (s *spawner) spawn(p *spec, match func([]byte) bool) (*child, error) {
	if err := prepare(p, s.dirs); err != nil {
		return nil, err
	}
	pump, out, err := newPump(p.Log, match)
	if err != nil {
		return nil, err
	}
	defer unix.Close(out)
	files, err := s.files(p, out)
	defer closeInherited(files)
	if err != nil {
		pump.discard()
		return nil, err
	}
	c := &child{pidfd: -1, pump: pump, started: time.Now(), exited: make(chan struct{}), gone: make(chan struct{}), abandoned: make(chan struct{})}
	c.pid, err = syscall.ForkExec(p.Program, append([]string{p.Program}, p.Args...), &syscall.ProcAttr{
		Dir:   p.Dir,
		Env:   s.env(p),
		Files: files,
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &c.pidfd},
	})
	if err != nil {
		pump.discard()
		return nil, explain(p, err)
	}
	c.group = &group{id: c.pid}
	if id, err := proc.Lookup(c.pid); err == nil {
		c.ticks = id.StartTime
	}
	pump.start()
	return c, nil
}

// files lists what a process inherits, by number, with gaps where it inherits nothing.
func (s *spawner) files(p *spec, out int) ([]uintptr, error) {
	files := []uintptr{s.null.Fd(), uintptr(out), uintptr(out)}
	for _, fd := range p.FDs {
		for len(files) <= fd.Number {
			files = append(files, noFile)
		}
		end, err := s.channels.end(fd.Channel)
		if err != nil {
			return files, err
		}
		files[fd.Number] = uintptr(end)
	}
	return files, nil
}

// noFile stands for a number that is closed in the new process.
const noFile = ^uintptr(0)

func closeInherited(files []uintptr) {
	for _, fd := range files[min(len(files), 3):] {
		if fd != noFile {
			unix.Close(int(fd))
		}
	}
}

// env returns the environment of a process.
func (s *spawner) env(p *spec) []string {
	own := maps.Clone(p.Env)
	if own == nil {
		own = map[string]string{}
	}
	own[markVar], own[processVar] = s.mark, p.ID
	env := make([]string, 0, len(s.base)+len(own))
	for _, v := range s.base {
		name, _, _ := strings.Cut(v, "=")
		if _, ok := own[name]; !ok {
			env = append(env, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		env = append(env, name+"="+own[name])
	}
	return env
}

// explain says which of several files an error of the start is about.
func explain(p *spec, err error) error {
	if fi, dirErr := os.Stat(p.Dir); p.Dir != "" && dirErr != nil {
		return fmt.Errorf("its working directory: %w", dirErr)
	} else if p.Dir != "" && !fi.IsDir() {
		return fmt.Errorf("its working directory %s is not a directory", p.Dir)
	}
	if _, statErr := os.Stat(p.Program); statErr == nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("executing %s: the interpreter that it names is not there", p.Program)
	}
	return fmt.Errorf("executing %s: %w", p.Program, err)
}

// destroy ends a child that nobody watches.
func (c *child) destroy() {
	c.group.signal(unix.SIGKILL)
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(c.pid, &status, 0, nil); err != unix.EINTR {
			break
		}
	}
	if c.pidfd >= 0 {
		unix.Close(c.pidfd)
	}
	c.pump.finish(0)
}

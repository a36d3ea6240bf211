package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/cosim-go/cosim/runtime/internal/durable"
	"github.com/cosim-go/cosim/runtime/internal/owned"
)

// SweepOptions say what a sweep leaves. The zero value leaves the records: logs,
// session.json, plan.json and layout.json.
type SweepOptions struct {
	Keep    bool // leave the pools, region files and overlays too
	Records bool // remove the records too, and the directories that are empty then
}

// A Swept is what a sweep removed. All paths are absolute.
type Swept struct {
	Killed  []Process
	Removed []string // files, links and directories, in the order of their removal
}

// Empty reports whether there was nothing to remove.
func (s Swept) Empty() bool { return len(s.Killed) == 0 && len(s.Removed) == 0 }

// Sweep removes what the session that ran in this run directory last has left, which
// its plan.json and session.json tell: processes, pools, sockets, overlays, the link to
// the pool directory. It serves the end of a session, its removal, and the next run
// after one whose supervisor was killed.
//
// A process is killed only where [KillMarked] proves it to be the session's. Files are
// removed only from the session's own directories, which belong to this user alone, and
// only by the names and of the types that a session makes; a directory only where it is
// empty then. What could not be removed is in the error, and does not stop the rest.
func (k *Lock) Sweep(opts SweepOptions) (Swept, error) {
	s := &sweep{lock: k, layout: k.layout, opts: opts}
	left := k.wrote
	if left == nil {
		var err error
		if left, err = readLeftovers(k.layout); err != nil {
			return s.done, err
		}
	}
	s.processes(left)
	if left != nil {
		s.sockets(left)
		if !opts.Keep {
			s.memory(left)
			s.overlays(left)
		}
	}
	if opts.Records {
		s.records(left)
	}
	for _, name := range []string{stateName, planName, layoutName} {
		s.remove(k.run, k.layout.RunDir, name+durable.Suffix, fs.FileMode.IsRegular)
	}
	return s.done, errors.Join(s.errs...)
}

type sweep struct {
	lock   *Lock
	layout Layout
	opts   SweepOptions
	done   Swept
	errs   []error
}

func (s *sweep) processes(left *leftovers) {
	state, err := ReadState(s.layout.StateFile())
	if err != nil {
		return // no process is started before the state is written
	}
	name := s.layout.Name
	if left != nil && left.name != "" {
		name = left.name
	}
	killed, err := KillMarked(name+"-"+s.layout.Hash, state.BootID, state.StartTime)
	s.done.Killed = killed
	s.note(err)
}

func isSocket(m fs.FileMode) bool  { return m.Type() == fs.ModeSocket }
func isSymlink(m fs.FileMode) bool { return m.Type() == fs.ModeSymlink }

// sockets removes every socket from the machines' directories and the short directory.
func (s *sweep) sockets(left *leftovers) {
	for _, m := range left.machines {
		s.inMachine(m.id, func(dir *os.Root, path string) {
			s.removeAll(dir, path, func(string) bool { return true }, isSocket)
		})
	}
	if left.socketDir == "" || left.socketDir == s.layout.RunDir {
		return
	}
	s.inDir(left.socketDir, func(dir *os.Root) {
		s.removeAll(dir, left.socketDir, func(name string) bool { return strings.HasSuffix(name, ".sock") }, isSocket)
	})
	s.removeDir(left.socketDir)
}

// memory removes pools, region files, and the link to the pool directory. A directory
// that was given to the session may by now serve another one, so pools in it are left
// alone unless they are known to be of this one.
func (s *sweep) memory(left *leftovers) {
	if left.poolDir != "" && (s.lock.made || s.layout.ownsPools(left.poolDir)) {
		s.inDir(left.poolDir, func(dir *os.Root) {
			for _, m := range left.machines {
				s.remove(dir, left.poolDir, m.id+".pool", fs.FileMode.IsRegular)
			}
		})
		s.removeDir(left.poolDir)
	}
	for _, m := range left.machines {
		for _, path := range m.files {
			s.regionFile(path)
		}
	}
	s.remove(s.lock.run, s.layout.RunDir, memoryName, isSymlink)
}

// regionFile removes a file that stands in a directory of all users, such as /dev/shm.
// The directory is sticky: what belongs to this user, nobody else can have put there.
func (s *sweep) regionFile(path string) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) == os.Geteuid() {
		s.removed(path, os.Remove(path))
	}
}

func (s *sweep) overlays(left *leftovers) {
	for _, m := range left.machines {
		s.inMachine(m.id, func(dir *os.Root, path string) {
			for _, name := range m.overlays {
				s.remove(dir, path, name, fs.FileMode.IsRegular)
			}
		})
	}
}

// records removes the logs and the files that describe the session, and at last the run
// directory. What a device wrote into its own directory is not the session's, and stays.
func (s *sweep) records(left *leftovers) {
	if left != nil {
		for _, m := range left.machines {
			s.machineRecords(m.id)
		}
	}
	for _, name := range []string{stateName, planName, layoutName, lockName} {
		s.remove(s.lock.run, s.layout.RunDir, name, fs.FileMode.IsRegular)
	}
	s.removeDir(s.layout.RunDir)
}

func (s *sweep) machineRecords(id string) {
	s.inMachine(id, func(dir *os.Root, path string) {
		s.removeAll(dir, path, func(name string) bool { return strings.HasSuffix(name, ".log") }, fs.FileMode.IsRegular)
		for _, name := range s.names(dir) {
			if strings.HasSuffix(name, ".out") {
				s.removeDir(path + "/" + name)
			}
		}
	})
	s.removeDir(s.layout.MachineDir(id))
}

// inMachine works in a machine's directory; it is a real one, as the run directory is.
func (s *sweep) inMachine(id string, work func(dir *os.Root, path string)) {
	path := s.layout.MachineDir(id)
	s.inDir(path, func(dir *os.Root) { work(dir, path) })
}

// inDir works in a directory of this user; one that is not there, or is somebody
// else's, holds nothing of the session.
func (s *sweep) inDir(path string, work func(dir *os.Root)) {
	dir, err := owned.Open(path)
	if err != nil {
		var foreign *owned.Error
		if !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &foreign) {
			s.note(err)
		}
		return
	}
	defer dir.Close()
	work(dir)
}

func (s *sweep) names(dir *os.Root) []string {
	f, err := dir.Open(".")
	if err != nil {
		s.note(err)
		return nil
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	s.note(err)
	slices.Sort(names)
	return names
}

func (s *sweep) removeAll(dir *os.Root, path string, name func(string) bool, mode func(fs.FileMode) bool) {
	for _, n := range s.names(dir) {
		if name(n) {
			s.remove(dir, path, n, mode)
		}
	}
}

func (s *sweep) remove(dir *os.Root, path, name string, mode func(fs.FileMode) bool) {
	if info, err := dir.Lstat(name); err == nil && mode(info.Mode()) {
		s.removed(path+"/"+name, dir.Remove(name))
	}
}

// removeDir removes a directory where it is empty.
func (s *sweep) removeDir(path string) {
	switch err := unix.Rmdir(path); {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST), errors.Is(err, unix.ENOTDIR):
	case err != nil:
		s.note(fmt.Errorf("removing %q: %w", path, err))
	default:
		s.removed(path, nil)
	}
}

func (s *sweep) removed(path string, err error) {
	if err == nil {
		s.done.Removed = append(s.done.Removed, path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		s.note(err)
	}
}

func (s *sweep) note(err error) {
	if err != nil {
		s.errs = append(s.errs, err)
	}
}

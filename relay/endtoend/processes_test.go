package endtoend

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// processes returns the processes that live and have a mark in their environment, this one left out.
func processes(mark string) (pids []int) {
	want := []byte(markVariable + "=" + mark + "\x00")
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range files {
		environ, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(environ, want) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// awaitNoProcess fails the test if processes with a mark are left after two seconds.
func awaitNoProcess(t testing.TB, mark string) {
	t.Helper()
	limit := time.After(2 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		left := processes(mark)
		if len(left) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Errorf("processes are left: %d", left)
			return
		}
	}
}

// awaitOnlyProcessesOf fails the test if after two seconds other processes than those of some cartridges are left.
func (r *rig) awaitOnlyProcessesOf(names ...string) {
	r.t.Helper()
	limit := time.Now().Add(2 * time.Second)
	for {
		var others []string
		for _, pid := range processes(r.mark) {
			if name := nameOf(pid); !slices.Contains(names, name) {
				others = append(others, name)
			}
		}
		if len(others) == 0 {
			return
		}
		if time.Now().After(limit) {
			r.t.Errorf("processes are left: %q", others)
			return
		}
		runtime.Gosched()
	}
}

// nameOf returns the name of the cartridge that a process is, if it is one.
func nameOf(pid int) string {
	environ, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if name, ok := bytes.CutPrefix(entry, []byte(nameVariable+"=")); ok {
			return string(name)
		}
	}
	return ""
}

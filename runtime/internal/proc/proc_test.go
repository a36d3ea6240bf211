package proc

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

func TestSelf(t *testing.T) {
	id, err := Self()
	if err != nil || id.PID != os.Getpid() || !id.Alive() {
		t.Fatalf("Self = %+v, %v, want this process alive", id, err)
	}
	if pids, err := All(); err != nil || !slices.Contains(pids, id.PID) {
		t.Errorf("All = %v, %v, want %d in it", pids, err, id.PID)
	}
	if line := Lineage(); !line[id.PID] || !line[os.Getppid()] {
		t.Errorf("Lineage = %v, want %d and %d in it", line, id.PID, os.Getppid())
	}
	if owner, err := Owner(id.PID); err != nil || owner != os.Geteuid() {
		t.Errorf("Owner = %d, %v, want %d", owner, err, os.Geteuid())
	}
	for _, dead := range []ID{{}, {PID: -1}, {id.PID, id.StartTime + 1}} {
		if dead.Alive() {
			t.Errorf("%+v counts as alive", dead)
		}
	}
}

// A program's name may look like the fields behind it.
func TestStatOfAProgramWithAnOddName(t *testing.T) {
	path := t.TempDir() + "/a) Z 1 (b"
	if err := os.Symlink("/bin/sleep", path); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "1000")
	cmd.Env = []string{"NAME=value", "OTHER=NAME=value"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := Lookup(cmd.Process.Pid)
	if err != nil || !id.Alive() {
		t.Errorf("Lookup = %+v, %v, want a process that is alive", id, err)
	}
	if s, err := readStat(id.PID); err != nil || s.parent != os.Getpid() {
		t.Errorf("parent = %d, %v, want %d", s.parent, err, os.Getpid())
	}
	look := func(name, value, label string) (string, bool) {
		s := Search{Name: name, Value: value, Label: label}
		m, what := s.look(id.PID)
		for what == unknown { // it is still being executed
			m, what = s.look(id.PID)
		}
		return m.Label, what == marked
	}
	for _, pair := range [][2]string{{"NAME", "val"}, {"AME", "value"}, {"OTHER", "NAME"}} {
		if _, ok := look(pair[0], pair[1], ""); ok {
			t.Errorf("look finds %v: it does not compare whole variables", pair)
		}
	}
	if got, ok := look("NAME", "value", "OTHER"); !ok || got != "NAME=value" {
		t.Errorf("look = %q, %v, want the value of OTHER", got, ok)
	}
	if got, ok := look("NAME", "value", "NONE"); !ok || got != "" {
		t.Errorf("look = %q, %v, want no value", got, ok)
	}
	cmd.Process.Kill()
	if err := id.Wait(10 * time.Second); err != nil || id.Alive() {
		t.Errorf("Wait = %v, alive %v: one that waits for its parent has ended", err, id.Alive())
	}
	cmd.Wait()
	if _, err := Lookup(id.PID); err == nil || id.Alive() || id.Wait(0) != nil {
		t.Errorf("process %d is still there", id.PID)
	}
}

package session

import (
	"fmt"
	"strings"
	"testing"
)

// all lists every socket in the order of the plan.
func all(s *Sockets, owners []Owner) []string {
	var list []string
	for _, o := range owners {
		for _, d := range o.Devices {
			list = append(list, s.Device(o.Machine, d), s.DeviceQMP(o.Machine, d))
		}
		list = append(list, s.QMP(o.Machine), s.Serial(o.Machine))
	}
	return list
}

// Requirements: X2, V4
func TestSocketsAreInTheRunDirectoryWhileTheyFit(t *testing.T) {
	owners := []Owner{{"lock", []string{"lsi-0"}}, {"plan", nil}, {"vhost", []string{"a", "b"}}}
	s := NewSockets(newLayout(t, Options{Name: "two"}), "/run/user/7", owners)
	want := []string{
		"/w/.cosim/two/lock/lsi-0.sock", "/w/.cosim/two/lock/lsi-0.qmp", "/w/.cosim/two/lock/qmp.sock", "/w/.cosim/two/lock/serial.sock",
		"/w/.cosim/two/plan/qmp.sock", "/w/.cosim/two/plan/serial.sock",
		"/w/.cosim/two/vhost/a.sock", "/w/.cosim/two/vhost/a.qmp", "/w/.cosim/two/vhost/b.sock", "/w/.cosim/two/vhost/b.qmp",
		"/w/.cosim/two/vhost/qmp.sock", "/w/.cosim/two/vhost/serial.sock",
	}
	if got := all(s, owners); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("sockets = %q, want %q", got, want)
	}
	if s.Dir() != "/w/.cosim/two" {
		t.Errorf("Dir() = %q, want the run directory", s.Dir())
	}
}

// Requirement: X2
func TestOneLongSocketMovesAllOfThem(t *testing.T) {
	l := newLayout(t, Options{Name: "two"})
	owners := []Owner{{"m0", []string{"a"}}, {strings.Repeat("m", 48), []string{"b", strings.Repeat("d", 48)}}, {"m2", nil}}
	s := NewSockets(l, "/run/user/7", owners)
	dir := "/run/user/7/cosim-" + l.Hash
	if s.Dir() != dir {
		t.Fatalf("Dir() = %q, want %q", s.Dir(), dir)
	}
	for n, got := range all(s, owners) {
		if want := fmt.Sprintf("%s/%d.sock", dir, n); got != want {
			t.Errorf("socket %d = %q, want %q", n, got, want)
		}
	}
}

// Requirement: X2
func TestSocketsMoveAtTheByteThatIsTooMuch(t *testing.T) {
	for _, owner := range []Owner{{Machine: "m0"}, {"m0", []string{"a-device"}}} {
		shortest := len("/m0/serial.sock")
		if len(owner.Devices) > 0 {
			shortest = len("/m0/a-device.sock")
		}
		for _, length := range []int{MaxSocketPath, MaxSocketPath + 1} {
			dir := "/" + strings.Repeat("r", length-shortest-1)
			l := newLayout(t, Options{Name: "n", RunDir: dir})
			s := NewSockets(l, "/tmp", []Owner{owner})
			if moved := s.Dir() != l.RunDir; moved != (length > MaxSocketPath) {
				t.Errorf("run directory of %d bytes: sockets in %q", len(dir), s.Dir())
			}
			for _, path := range all(s, []Owner{owner}) {
				if len(path) > MaxSocketPath {
					t.Errorf("socket path %q has %d bytes", path, len(path))
				}
			}
		}
	}
}

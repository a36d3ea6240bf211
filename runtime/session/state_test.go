package session

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosim-go/cosim/topology/layout"
)

func TestStateIsReadAsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.json")
	s, err := NewState(Layout{Name: "two"}, "two.yaml", time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if s.PID != os.Getpid() || s.StartTime == 0 || len(s.BootID) != 36 || s.Phase != Starting {
		t.Errorf("NewState = %+v, want this process of this boot", s)
	}
	ended, code, status := s.Started.Add(time.Minute), 4, 1
	s.Phase, s.Ended, s.ExitCode, s.FirstFailure = Ended, &ended, &code, `device "gpu0" exited`
	s.Processes = append(s.Processes, ProcessState{ID: "m0/gpu0", PID: 7, StartTime: 8, State: "failed", ExitStatus: &status})
	for range 2 {
		if err := WriteState(path, s); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadState(path)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("ReadState = %+v, %v, want %+v", got, err, s)
	}
	if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
		t.Errorf("writing left %v", names)
	}
}

func TestStateHasTheKeysThatOthersRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.json")
	if err := WriteState(path, &State{Version: 1, Processes: []ProcessState{{}}}); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	var top map[string]json.RawMessage
	var processes []map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(text, &top), json.Unmarshal(top["processes"], &processes)); err != nil {
		t.Fatal(err)
	}
	requireKeys(t, top, "version", "name", "state", "topology", "pid", "start_time", "boot_id", "started", "ended", "exit_code", "first_failure", "processes")
	requireKeys(t, processes[0], "id", "pid", "start_time", "state", "exit_status", "signal")
}

func requireKeys(t *testing.T, m map[string]json.RawMessage, keys ...string) {
	t.Helper()
	for _, k := range keys {
		if _, ok := m[k]; !ok {
			t.Errorf("key %q is missing", k)
		}
	}
	if len(m) != len(keys) {
		t.Errorf("%d keys, want %d", len(m), len(keys))
	}
}

func TestReadStateRefusesWhatItDoesNotKnow(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadState(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadState of no file = %v, want fs.ErrNotExist", err)
	}
	for text, want := range map[string]string{"{": "unexpected end", `{"version": 2}`: "its version is 2"} {
		path := filepath.Join(dir, "session.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadState(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadState(%s) = %v, want %q", text, err, want)
		}
	}
}

// Requirement: L4
func TestLayoutFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "layout.json")
	l := layout.Layout{Version: 1, PageSize: 4096, Machines: []layout.Machine{{
		ID: "m0", Pool: "/dev/shm/p/m0.pool", Size: 40 * layout.GiB, Regions: []layout.Region{
			{Name: "memory", Size: 32 * layout.GiB},
			{Name: "mi300x-0.vram", Offset: layout.Addr(32 * layout.GiB), Size: 8 * layout.GiB},
		},
	}}}
	if err := WriteLayout(path, l); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	var got any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"version": 1., "page_size": 4096., "machines": []any{map[string]any{
		"id": "m0", "pool": "/dev/shm/p/m0.pool", "size": 42949672960., "regions": []any{
			map[string]any{"name": "memory", "offset": 0., "size": 34359738368.},
			map[string]any{"name": "mi300x-0.vram", "offset": 34359738368., "size": 8589934592.},
		},
	}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("layout.json = %v, want %v", got, want)
	}
	if back, err := ReadLayout(path); err != nil || !reflect.DeepEqual(back, l) {
		t.Errorf("ReadLayout = %v, %v, want %v", back, err, l)
	}
}

func TestAWriteThatFailsLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plan.json")
	if err := WriteFile(path, func(w io.Writer) error { _, err := w.Write([]byte("old")); return err }); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := WriteFile(path, func(w io.Writer) error { w.Write([]byte(strings.Repeat("new", 100000))); return broken })
	if !errors.Is(err, broken) {
		t.Errorf("WriteFile = %v, want the error of write", err)
	}
	text, _ := os.ReadFile(path)
	names, _ := os.ReadDir(dir)
	if string(text) != "old" || len(names) != 1 || slices.ContainsFunc(names, func(e fs.DirEntry) bool { return e.Name() != "plan.json" }) {
		t.Errorf("content = %q, directory = %v, want the old file alone", text, names)
	}
}

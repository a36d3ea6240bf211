package launch

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/runtime/execenv"
	"github.com/cosim-go/cosim/runtime/internal/leaktest"
	"github.com/cosim-go/cosim/runtime/plan"
	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/runtime/supervise"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
)

// TestMain lets the test binary be the guard of its sessions.
func TestMain(m *testing.M) {
	if supervise.GuardMain() {
		return
	}
	leaktest.Main(m, nil)
}

// newPlan plans a session of one machine whose vhost is a shell script. Its first
// argument is the pool.
func newPlan(t *testing.T, script string) *plan.Plan {
	t.Helper()
	dir := t.TempDir()
	env := execenv.ExecEnv{WorkDir: dir, ShmDir: leaktest.ShmDir(t), DiskLockDir: dir + "/locks", PageSize: 4096, Path: []string{"/bin"}}
	names, err := session.NewLayout(env, session.Options{Name: "s"})
	if err != nil {
		t.Fatal(err)
	}
	return &plan.Plan{
		Images: []plan.Image{},
		Launch: plan.Launch{
			Version: plan.Version,
			Session: plan.Session{Name: "s", RunDir: names.RunDir, PoolDir: names.PoolDir, SocketDir: names.RunDir, Workspace: dir, Topology: "s.yaml"},
			Env:     plan.Env{PageSize: 4096, Path: env.Path, DiskLockDir: env.DiskLockDir},
			Machines: []plan.Machine{{
				ID: "m", Placement: topology.LocalAgent, Disks: []plan.Disk{},
				Pool: plan.Pool{Path: names.Pool("m"), Size: layout.MiB, Regions: []layout.Region{{Name: layout.MemoryRegion, Size: layout.MiB}}},
			}},
			Processes: []plan.Process{{
				ID: "m/vhost", Machine: "m", Role: topology.RoleVhost, Kind: "sh", Program: "/bin/sh",
				Args: []string{"-c", script, names.Pool("m")}, Env: map[string]string{}, Dir: dir, Dirs: []string{}, DependsOn: []string{},
				Timeout: "1m", Log: names.VhostLog("m"), Stop: adapters.Stop{Signal: "TERM", Grace: "1m"},
			}},
			Missing: []plan.Missing{},
		},
	}
}

// files lists what is below the workspace and in shared memory, but for the records of
// the session.
func files(t *testing.T, p *plan.Plan) []string {
	t.Helper()
	var list []string
	for _, dir := range []string{p.Launch.Session.Workspace, filepath.Dir(p.Launch.Session.PoolDir)} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if path != dir {
				list = append(list, strings.TrimPrefix(strings.TrimPrefix(path, p.Launch.Session.Workspace+"/"), filepath.Dir(p.Launch.Session.PoolDir)+"/"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

var records = []string{
	".cosim", ".cosim/.gitignore", ".cosim/s", ".cosim/s/layout.json", ".cosim/s/m", ".cosim/s/m/vhost.log",
	".cosim/s/plan.json", ".cosim/s/session.json", ".cosim/s/session.lock",
}

func wantRecords(t *testing.T, p *plan.Plan) {
	t.Helper()
	got := slices.DeleteFunc(files(t, p), func(name string) bool { return strings.HasPrefix(name, "locks") })
	if !slices.Equal(got, records) {
		t.Errorf("there are %q, want the records %q", got, records)
	}
}

// Requirements: X5, L4
func TestRun(t *testing.T) {
	p := newPlan(t, `stat -c %s "$0" && [ "$0" -ef .cosim/s/memory/m.pool ]`)
	var printed bytes.Buffer
	if err := p.WriteJSON(&printed); err != nil {
		t.Fatal(err)
	}
	printed.WriteString("\n \n") // as an editor may leave it
	var events []string
	result, err := Run(t.Context(), p, &Options{Text: printed.Bytes(), Observe: func(e Event) {
		if e.Process != nil {
			events = append(events, string(e.Process.State))
		}
	}})
	if err != nil || result.ExitCode != ExitFine || result.Cleanup != nil {
		t.Fatalf("Run = %+v, %v", result, err)
	}
	wantRecords(t, p)
	if log, err := os.ReadFile(p.Launch.Processes[0].Log); string(log) != "1048576\n" {
		t.Errorf("the vhost saw a pool of %s bytes, %v", log, err)
	}
	if text, err := os.ReadFile(p.Launch.Session.Paths().PlanFile()); string(text) != printed.String() {
		t.Errorf("plan.json holds %q, %v", text, err)
	}
	if want := []string{"starting", "ready", "exited"}; !slices.Equal(events, want) {
		t.Errorf("events = %q, want %q", events, want)
	}
	state, err := session.ReadState(p.Launch.Session.Paths().StateFile())
	if err != nil || state.Phase != session.Ended || *state.ExitCode != ExitFine || *state.Processes[0].ExitStatus != 0 {
		t.Errorf("session.json = %+v, %v", state, err)
	}
}

func TestRunKeepsAndCleanRemoves(t *testing.T) {
	p := newPlan(t, "true")
	if _, err := Run(t.Context(), p, &Options{Keep: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p.Launch.Machines[0].Pool.Path); err != nil {
		t.Error(err)
	}
	if swept, err := Clean(p.Launch.Session.Paths()); err != nil || !slices.Contains(swept.Removed, p.Launch.Machines[0].Pool.Path) {
		t.Errorf("Clean = %+v, %v", swept, err)
	}
	if got, want := files(t, p), []string{".cosim", ".cosim/.gitignore"}; !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
	if _, err := Clean(p.Launch.Session.Paths()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Clean of nothing = %v, want fs.ErrNotExist", err)
	}
}

func TestRunThatFails(t *testing.T) {
	p := newPlan(t, "exit 3")
	result, err := Run(t.Context(), p, nil)
	if err != nil || result.ExitCode != ExitFailed || result.First == nil || result.First.ExitStatus != 3 {
		t.Fatalf("Run = %+v, %v", result, err)
	}
	wantRecords(t, p)
}

func TestRunEndsWithItsContext(t *testing.T) {
	p := newPlan(t, "exec sleep 1000")
	ctx, cancel := context.WithCancelCause(t.Context())
	result, err := Run(ctx, p, &Options{Observe: func(e Event) {
		if e.Process != nil && e.Process.State == supervise.Ready {
			cancel(&InterruptError{Signal: "SIGTERM", ExitCode: 143})
		}
	}})
	if err != nil || result.ExitCode != 143 {
		t.Fatalf("Run = %+v, %v", result, err)
	}
	wantRecords(t, p)
}

// What cannot be made before the first process starts undoes what was made.
func TestRunThatCannotBePrepared(t *testing.T) {
	p := newPlan(t, "true")
	workspace := p.Launch.Session.Workspace
	p.Images = []plan.Image{{
		Path: workspace + "/kernel", State: plan.Absent,
		Recipe: &plan.Recipe{Program: "/bin/sh", Args: []string{"-c", "exit 1"}, Dir: workspace, Timeout: "1m"},
	}}
	result, err := Run(t.Context(), p, nil)
	if err == nil || ExitCode(err) != ExitFailed || !strings.Contains(err.Error(), "kernel") {
		t.Fatalf("Run = %+v, %v, want an error about the kernel", result, err)
	}
	state, err := session.ReadState(p.Launch.Session.Paths().StateFile())
	if err != nil || state.Phase != session.Ended || *state.ExitCode != ExitFailed {
		t.Errorf("session.json = %+v, %v", state, err)
	}
	if _, err := os.Lstat(p.Launch.Session.PoolDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the pool directory is there: %v", err)
	}
}

// Requirement: V6
func TestRefusalsCreateNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil         func(*plan.Plan)
		message, hint string
	}{
		"a machine on another host": {func(p *plan.Plan) { p.Launch.Machines[0].Placement = "rack" }, `machine "m" is placed on agent "rack"`, "remove its `placement`"},
		"something missing": {
			func(p *plan.Plan) {
				p.Launch.Missing = []plan.Missing{{What: "executable", Name: "gem5.opt", NeededBy: []string{"m/gpu"}, LookedIn: []string{"/bin"}}}
			}, `executable "gem5.opt" was not there`, "looked in /bin; then make a new plan",
		},
		"a pool larger than memory": {
			func(p *plan.Plan) {
				p.Launch.Machines[0].Pool.Size, p.Launch.Machines[0].Pool.Regions[0].Size = 1<<60, 1<<60
			}, `pool of machine "m" needs 1024 PiB`, "--overcommit",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlan(t, "true")
			tt.spoil(p)
			_, err := Run(t.Context(), p, nil)
			var refused *RefusedError
			if !errors.As(err, &refused) || ExitCode(err) != ExitRefused {
				t.Fatalf("Run = %v, want a refusal", err)
			}
			if p := refused.Problems[0]; !strings.HasPrefix(p.Message, tt.message) || !strings.Contains(p.Hint, tt.hint) {
				t.Errorf("it is refused with %+v, want %q and %q", p, tt.message, tt.hint)
			}
			if got := files(t, p); len(got) > 0 {
				t.Errorf("made %q", got)
			}
		})
	}
}

func TestALiveSessionIsRefused(t *testing.T) {
	p := newPlan(t, "exec sleep 1000")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := Run(ctx, p, &Options{Observe: func(e Event) {
		if e.Process == nil || e.Process.State != supervise.Ready {
			return
		}
		_, err := Run(t.Context(), p, nil)
		if err == nil || ExitCode(err) != ExitRefused || !strings.Contains(err.Error(), `session "s" is running`) {
			t.Errorf("a second Run = %v, want a refusal", err)
		}
		var live *session.LiveError
		if _, err := Clean(p.Launch.Session.Paths()); !errors.As(err, &live) || live.PID != os.Getpid() {
			t.Errorf("Clean = %v, want that it is live", err)
		}
		cancel(&InterruptError{Signal: "SIGINT", ExitCode: 130})
	}})
	if err != nil {
		t.Error(err)
	}
}

// Requirement: X5. A killed session's pool goes before the next run begins.
func TestRunRemovesWhatIsLeft(t *testing.T) {
	p := newPlan(t, "true")
	if _, err := Run(t.Context(), p, &Options{Keep: true}); err != nil {
		t.Fatal(err)
	}
	var notes []string
	if _, err := Run(t.Context(), p, &Options{Observe: func(e Event) { notes = append(notes, e.Note) }}); err != nil {
		t.Fatal(err)
	}
	if want := "removed what the session before left: " + p.Launch.Machines[0].Pool.Path; !slices.Contains(notes, want) {
		t.Errorf("notes = %q, want %q", notes, want)
	}
	wantRecords(t, p)
}

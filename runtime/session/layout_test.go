package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosim-go/cosim/runtime/execenv"
)

func host() execenv.ExecEnv {
	return execenv.ExecEnv{WorkDir: "/w", ShmDir: "/dev/shm", RuntimeDir: "/run/user/7", PageSize: 4096}
}

func newLayout(t *testing.T, opts Options) Layout {
	t.Helper()
	l, err := NewLayout(host(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Requirement: X2
func TestDefaultPaths(t *testing.T) {
	l := newLayout(t, Options{Topology: "examples/two.yaml"})
	// printf /w/.cosim/two | sha256sum
	want := Layout{
		Name: "two", Hash: "264e29ee", RunDir: "/w/.cosim/two", PoolDir: "/dev/shm/cosim-two-264e29ee",
		Workspace: "/w", SocketDir: "/w/.cosim/two",
	}
	if l != want {
		t.Errorf("NewLayout = %+v, want %+v", l, want)
	}
	paths := map[string]string{
		l.StateFile():              "/w/.cosim/two/session.json",
		l.PlanFile():               "/w/.cosim/two/plan.json",
		l.LayoutFile():             "/w/.cosim/two/layout.json",
		l.LockFile():               "/w/.cosim/two/session.lock",
		l.MemoryLink():             "/w/.cosim/two/memory",
		l.MachineDir("m0"):         "/w/.cosim/two/m0",
		l.VhostLog("m0"):           "/w/.cosim/two/m0/vhost.log",
		l.SerialLog("m0"):          "/w/.cosim/two/m0/serial.log",
		l.DeviceLog("m0", "gpu-0"): "/w/.cosim/two/m0/gpu-0.log",
		l.OutDir("m0", "gpu-0"):    "/w/.cosim/two/m0/gpu-0.out",
		l.Overlay("m0", "boot"):    "/w/.cosim/two/m0/boot.qcow2",
		l.Pool("m0"):               "/dev/shm/cosim-two-264e29ee/m0.pool",
	}
	for got, want := range paths {
		if got != want {
			t.Errorf("path = %q, want %q", got, want)
		}
	}
	if l.Mark() != "two-264e29ee" {
		t.Errorf("Mark() = %q, want two-264e29ee", l.Mark())
	}
}

// Requirement: X2
func TestOptionsReplaceWholeDirectories(t *testing.T) {
	l := newLayout(t, Options{Name: "n", RunDir: "runs/r/", PoolDir: "/mnt/pool", Workspace: "../ws"})
	want := Layout{
		Name: "n", Hash: Hash("/w/runs/r"), RunDir: "/w/runs/r", PoolDir: "/mnt/pool",
		Workspace: "/ws", SocketDir: "/w/runs/r",
	}
	if l != want {
		t.Errorf("NewLayout = %+v, want %+v", l, want)
	}
}

func TestHashTellsRunDirectoriesApart(t *testing.T) {
	a := newLayout(t, Options{Name: "n"})
	b := newLayout(t, Options{Name: "n", Workspace: "/x"})
	if a.Hash == b.Hash || len(a.Hash) != 8 || a.PoolDir == b.PoolDir {
		t.Errorf("hashes %q and %q of %q and %q, want two of 8 digits", a.Hash, b.Hash, a.RunDir, b.RunDir)
	}
}

// Requirement: X2
func TestDefaultName(t *testing.T) {
	long := strings.Repeat("x", 60)
	for topology, want := range map[string]string{
		"two.yaml":              "two",
		"-":                     "stdin",
		"dir/a.b.yml":           "a-b",
		"my topology (1).yaml":  "my-topology--1-",
		"größe.yaml":            "gr--e",
		".yaml":                 "-yaml",
		"none":                  "none",
		long + ".yaml":          long[:48],
		"/abs/Cluster_0-x.yaml": "Cluster_0-x",
		strings.Repeat("ü", 60): strings.Repeat("-", 48),
	} {
		if l := newLayout(t, Options{Topology: topology}); l.Name != want {
			t.Errorf("name of %q = %q, want %q", topology, l.Name, want)
		}
	}
}

func TestBadOptionsAreNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		opts         Options
		option, text string
	}{
		"a space in the name":         {Options{Name: "a b"}, "--name", `--name "a b": is not 1 to 48 letters, digits, underscores or hyphens`},
		"a name of 49":                {Options{Name: strings.Repeat("a", 49)}, "--name", "is not 1 to 48"},
		"a slash in the name":         {Options{Name: "../x"}, "--name", "is not 1 to 48"},
		"a quote in the workspace":    {Options{Name: "n", Workspace: `/a"b`}, "--workspace", "'\"'"},
		"a backslash in the run dir":  {Options{Name: "n", RunDir: `/a\b`}, "--run-dir", `'\\'`},
		"a line feed in the pool dir": {Options{Name: "n", PoolDir: "/a\nb"}, "--pool-dir", `'\n'`},
		"an invalid text":             {Options{Name: "n", RunDir: "/a\xffb"}, "--run-dir", "valid UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewLayout(host(), tt.opts)
			var option *OptionError
			if !errors.As(err, &option) || option.Option != tt.option || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("NewLayout = %v, want an error of %s with %q", err, tt.option, tt.text)
			}
		})
	}
}

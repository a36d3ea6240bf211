package plan

import (
	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/runtime/execenv"
	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/layout"
)

// A Host answers what [Make] has to know of the local file system. Its methods only
// look; they start nothing and write nothing.
type Host interface {
	// LookPath finds an executable by its name in PATH, or by its absolute path.
	LookPath(name string) (path string, lookedIn []string, ok bool)

	// Exists reports whether there is a file or directory at an absolute path.
	Exists(path string) bool

	// Resolve follows the symbolic links of an absolute path, as far as it exists.
	Resolve(path string) string

	// ImageState tells the state of an image, and why. Image.State is not set yet.
	ImageState(workspace string, image Image) (State, string)
}

// Input is everything that a plan depends on.
type Input struct {
	Model   *topology.Model
	Layout  *layout.Layout
	Env     execenv.ExecEnv
	Session session.Layout
	Host    Host

	// Adapter finds the adapter of a kind. It returns nil for one it does not know.
	Adapter func(*topology.Kind) adapters.Adapter
}

// Make makes the plan of a session. The diagnostics are problems of the topology that
// only show here (an error means that there is no plan), and for each entry of the
// plan's Missing an error with the code [CodeMissing] at every place that needs it; with
// these alone the plan is there and can be printed.
func Make(in Input) (*Plan, diag.List) {
	m := &maker{
		in:       in,
		sockets:  session.NewSockets(in.Session, in.Env.RuntimeDir, owners(in.Model)),
		images:   map[string]int{},
		missing:  map[string]int{},
		unfit:    map[int]string{},
		programs: map[string]lookup{},
		places:   map[missingAt]*[]string{},
		disks:    map[string]diskUse{},
	}
	m.plan = &Plan{
		Images: []Image{},
		Launch: Launch{
			Version: Version,
			Session: Session{
				Name: in.Session.Name, RunDir: in.Session.RunDir, PoolDir: in.Session.PoolDir,
				SocketDir: m.sockets.Dir(), Workspace: in.Session.Workspace, Topology: in.Model.File,
			},
			Env:       Env{PageSize: in.Env.PageSize, Path: nonNil(in.Env.Path), DiskLockDir: in.Env.DiskLockDir},
			Machines:  make([]Machine, 0, len(in.Model.Machines)),
			Processes: []Process{},
			Missing:   []Missing{},
		},
	}
	for i, machine := range in.Model.Machines {
		m.machine(machine, in.Layout.Machines[i])
	}
	m.imageStates()
	m.reportMissing()
	if m.failed {
		return nil, m.list.Sorted()
	}
	return m.plan, m.list.Sorted()
}

// The codes of the diagnostics that a plan adds to those of the topology.
const (
	CodeMissing   = "missing-file"  // an executable or a file that is not there
	CodeConflict  = "disk-conflict" // one file is written by one disk and used by another
	codeNoAdapter = "no-adapter"    // of an embedder's table that does not fit its catalogue
)

// A maker collects one plan.
type maker struct {
	in      Input
	sockets *session.Sockets
	plan    *Plan
	list    diag.List
	failed  bool // the list holds an error other than CodeMissing

	images   map[string]int // index in plan.Images by path
	missing  map[string]int // index in plan.Launch.Missing by what and name
	unfit    map[int]string // why a missing file that is there is of no use, by index in plan.Launch.Missing
	programs map[string]lookup
	disks    map[string]diskUse // by resolved path

	places     map[missingAt]*[]string // who needs what is missing, by place
	placeOrder []missingAt
	recipes    []recipePlace // by index in plan.Images
}

func (m *maker) report(list diag.List) {
	m.list = append(m.list, list...)
	m.failed = m.failed || list.HasErrors()
}

// owners lists the machines and their devices, in the order of the plan.
func owners(model *topology.Model) []session.Owner {
	list := make([]session.Owner, len(model.Machines))
	for i, m := range model.Machines {
		list[i] = session.Owner{Machine: m.ID, Devices: make([]string, len(m.Devices))}
		for j, d := range m.Devices {
			list[i].Devices[j] = d.ID
		}
	}
	return list
}

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

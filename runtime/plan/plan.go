// Package plan turns a checked topology, the facts of a host and the paths of a
// session into a [Plan]: everything that a run will make, start and wait for, in a
// form that can be printed, compared, stored and executed later.
//
// [Make] has no effects, and the same inputs give the same bytes.
package plan

import (
	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/runtime/session"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
)

// Version is the version of the plans that this package makes and executes.
const Version = 1

// A Plan is what `cosim run --dry-run` prints.
type Plan struct {
	Images []Image `json:"images"` // each distinct artifact once, in order of first use
	Launch Launch  `json:"launch"`
}

// A Launch is enough to run a session without the topology it came from.
type Launch struct {
	Version   int       `json:"version"`
	Session   Session   `json:"session"`
	Env       Env       `json:"env"`
	Machines  []Machine `json:"machines"`
	Processes []Process `json:"processes"` // every device stands before its host
	Missing   []Missing `json:"missing"`   // what the host lacks; a plan with an entry is not run
}

// A Session names the places of a session. All paths are absolute.
type Session struct {
	Name      string `json:"name"`
	RunDir    string `json:"run_dir"`
	PoolDir   string `json:"pool_dir"`
	SocketDir string `json:"socket_dir"` // the run directory, or where sockets go when its paths are too long
	Workspace string `json:"workspace"`
	Topology  string `json:"topology"`
}

// Env holds the host's facts that the plan was made with.
type Env struct {
	PageSize    layout.Size `json:"page_size"`
	Path        []string    `json:"path"`
	DiskLockDir string      `json:"disk_lock_dir"`
}

// A Machine is what one machine needs besides its processes.
type Machine struct {
	ID        string `json:"id"`
	Placement string `json:"placement"` // "local", or the agent's name
	Pool      Pool   `json:"pool"`
	Disks     []Disk `json:"disks"`
}

// A Pool is a machine's shared memory. A region with a file of its own is not in
// the pool's file; where all have one, no pool is made.
type Pool struct {
	Path    string          `json:"path"`
	Size    layout.Size     `json:"size"`
	Regions []layout.Region `json:"regions"`
}

// A Disk is a block device of the session.
type Disk struct {
	ID       string            `json:"id"`
	Owner    string            `json:"owner"`   // "vhost", or the device's identifier
	Target   string            `json:"target"`  // what the process opens
	Backing  string            `json:"backing"` // the artifact under an overlay; equal to Target without one
	Format   string            `json:"format"`  // of the backing file
	Mode     topology.DiskMode `json:"mode"`
	ReadOnly bool              `json:"readonly"`
	Size     layout.Size       `json:"size"` // of the overlay; 0 means as large as its backing file
	Lock     Lock              `json:"lock"`
	Tool     string            `json:"tool"` // the qemu-img that makes the overlay; empty without one
}

// A Lock keeps sessions from disturbing each other's disks.
type Lock struct {
	Path string `json:"path"`
	Mode string `json:"mode"` // "shared" or "exclusive"
}

// An Image is an artifact that processes need: a disk image, a kernel, an initrd,
// firmware.
type Image struct {
	Path   string   `json:"path"`
	Format string   `json:"format"` // "raw" or "qcow2" for a disk image, else empty
	UsedBy []string `json:"used_by"`
	Direct bool     `json:"direct"` // a disk writes to the file itself, so it is never rebuilt
	State  State    `json:"state"`
	Reason string   `json:"reason"`
	Recipe *Recipe  `json:"recipe,omitempty"`
}

// A State says what a run has to do for an image.
type State string

// The states of an image.
const (
	Ready       State = "ready"       // there, and its stamp agrees or there is none
	Absent      State = "missing"     // not there; its recipe will build it
	Stale       State = "stale"       // its stamp disagrees; its recipe will build it again
	Unbuildable State = "unbuildable" // not there, and nothing can build it
)

// A Recipe is how an image is built. Either Program or Size is set.
type Recipe struct {
	Program string            `json:"program"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	Dir     string            `json:"dir"`
	Inputs  []string          `json:"inputs"`
	Timeout string            `json:"timeout"`
	Size    layout.Size       `json:"size"`
	Tool    string            `json:"tool"`   // the qemu-img that makes an empty qcow2; empty where none is needed
	Digest  string            `json:"digest"` // of what the recipe says, not of its inputs
}

// A Process is one process of the session.
type Process struct {
	ID        string            `json:"id"` // "<machine>/vhost" or "<machine>/<device>"
	Machine   string            `json:"machine"`
	Role      topology.Role     `json:"role"`
	Kind      string            `json:"kind"`
	Program   string            `json:"program"` // absolute, or as written where it is missing
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env"` // on top of the inherited environment
	Dir       string            `json:"dir"`
	Dirs      []string          `json:"dirs"` // made before the start
	DependsOn []string          `json:"depends_on"`
	Ready     adapters.Ready    `json:"ready"`
	Timeout   string            `json:"timeout"`
	Log       string            `json:"log"`
	Console   *Console          `json:"console,omitempty"`
	Expect    *Expect           `json:"expect,omitempty"`
	Stop      adapters.Stop     `json:"stop"`
	FDs       []adapters.FD     `json:"fds,omitempty"`
}

// A Console is a vhost's serial line.
type Console struct {
	Socket string `json:"socket"`
	Log    string `json:"log"`
}

// An Expect is the guest's verdict.
type Expect struct {
	Log  string `json:"log"` // absolute path of the log that is matched line by line
	Pass string `json:"pass,omitempty"`
	Fail string `json:"fail,omitempty"`
}

// A Missing is something that the host lacks.
type Missing struct {
	What     string   `json:"what"` // "executable", "file" or "directory"
	Name     string   `json:"name"` // as written
	NeededBy []string `json:"needed_by"`
	LookedIn []string `json:"looked_in"`
}

// Layout is the content of the session's layout.json.
func (l *Launch) Layout() *layout.Layout {
	out := &layout.Layout{Version: layout.Version, PageSize: l.Env.PageSize, Machines: make([]layout.Machine, len(l.Machines))}
	for i, m := range l.Machines {
		out.Machines[i] = layout.Machine{ID: m.ID, Pool: m.Pool.Path, Size: m.Pool.Size, Regions: m.Pool.Regions}
	}
	return out
}

// Process finds a process by its identifier, and returns nil where there is none.
func (l *Launch) Process(id string) *Process {
	for i := range l.Processes {
		if l.Processes[i].ID == id {
			return &l.Processes[i]
		}
	}
	return nil
}

// Paths names every path of the session.
func (s *Session) Paths() session.Layout {
	return session.Layout{
		Name: s.Name, Hash: session.Hash(s.RunDir), RunDir: s.RunDir, PoolDir: s.PoolDir,
		Workspace: s.Workspace, SocketDir: s.SocketDir,
	}
}

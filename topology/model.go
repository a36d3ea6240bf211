package topology

import (
	"time"

	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/layout"
)

// A Model is a topology with everything resolved: imports read, templates merged,
// counts expanded, defaults put in, every rule checked. Treat it as read-only:
// machines that were written once share their vhost and devices.
type Model struct {
	File     string     // the top-level document, as it was asked for
	Files    []string   // every document read, in the order of reading
	Machines []*Machine // in order of declaration

	origins map[diag.Pos][]diag.Related // the `use` that brought in a region or memory
}

// A Machine is one simulated computer.
type Machine struct {
	ID      string
	Agent   string // where it runs; "local" is this host
	Vhost   *Vhost
	Devices []*Device // in order of declaration; shared by the machines of one count
	Pos     diag.Pos
}

// LocalAgent is the agent of a machine that runs on this host.
const LocalAgent = "local"

// Remote reports whether the machine is placed on another host.
func (m *Machine) Remote() bool { return m.Agent != LocalAgent }

// Disks lists the machine's disks: the vhost's, then each device's.
func (m *Machine) Disks() []*Disk {
	disks := m.Vhost.Disks[:len(m.Vhost.Disks):len(m.Vhost.Disks)]
	for _, d := range m.Devices {
		disks = append(disks, d.Disks...)
	}
	return disks
}

// A Path is the name of a file or an executable as written, with its place.
// Relative resource paths mean the workspace root; an executable without a slash
// is looked up in PATH when a plan is made.
type Path struct {
	Name string
	Pos  diag.Pos
}

// A Process is what a vhost and a device have in common.
type Process struct {
	Kind    *Kind
	Program Path     // of the entry, or else of its kind
	Args    []string // the user's own, passed on verbatim behind the kind's
	Env     []EnvVar // sorted by name, the kind's not included
	Params  Params
	Timeout time.Duration // for readiness, from the process's own start
	Disks   []*Disk
	Pos     diag.Pos
}

// DefaultTimeout is how long a process may take to become ready: gem5's MI300X
// model needs tens of seconds, and its own launcher waits this long.
const DefaultTimeout = 120 * time.Second

// A Vhost is the simulator that runs a machine's CPU and guest.
type Vhost struct {
	Process
	Memory    layout.Size
	MemoryPos diag.Pos
	CPUs      int
	Image     *Image  // nil where there is none
	Boot      *Boot   // nil where there is none
	Expect    *Expect // nil where there is none
}

// A Device is what a vhost sees on its bus.
type Device struct {
	Process
	ID      string
	Index   int      // in its machine, from 0
	Regions []Region // the kind's first, then the entry's own
}

// A Region is a range of shared memory that a device asks for.
type Region struct {
	Name  string // without the device; "vram", not "gpu0.vram"
	Size  layout.Size
	Align layout.Size // 0 means the default
	Pos   diag.Pos
}

// An Artifact is a file that a process needs and a recipe may build.
type Artifact struct {
	Path   Path
	Recipe *Recipe // nil where the file is the user's own
}

// An Image is an artifact that holds a disk's content.
type Image struct {
	Artifact
	Format string // "raw" or "qcow2"
}

// A Recipe says how to build an artifact. Either Program or Size is set.
type Recipe struct {
	Program Path
	Args    []string
	Env     []EnvVar // sorted by name
	Dir     string   // resource path; empty means the workspace root
	Inputs  []Path   // files and directories
	Timeout time.Duration
	Size    layout.Size // of an empty, sparse file
	Pos     diag.Pos
}

// DefaultRecipeTimeout is how long a recipe may take.
const DefaultRecipeTimeout = time.Hour

// Boot is a direct boot. Each field may be nil or empty.
type Boot struct {
	Kernel, Initrd, Firmware *Artifact
	Append                   string
}

// Expect is the guest's verdict: RE2 expressions matched line by line. An empty one
// matches nothing.
type Expect struct {
	Pass, Fail string
}

// A Disk is a block device of a vhost or of a device that takes disks.
type Disk struct {
	ID       string
	Image    bool      // the vhost's image is its file
	File     *Artifact // never nil in a checked model; the image's artifact where Image is set
	Format   string    // "raw" or "qcow2"
	Mode     DiskMode
	ReadOnly bool
	Size     layout.Size // of the overlay; 0 means as large as its backing file
	Bus      string      // "virtio", "nvme" or "ide" on a vhost; "drive" or "scsi" on a device
	Pos      diag.Pos
}

// A DiskMode says what becomes of the guest's writes.
type DiskMode string

// The disk modes.
const (
	Overlay  DiskMode = "overlay"  // into a layer of the session's own
	Snapshot DiskMode = "snapshot" // thrown away
	Direct   DiskMode = "direct"   // into the file itself
)

// An EnvVar is a variable of a process's environment.
type EnvVar struct {
	Name, Value string
}

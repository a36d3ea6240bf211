// Package adapters renders the vhosts and devices of a checked topology as the
// commands that run them.
//
// An [Adapter] is one kind. It is pure: model, layout and session paths in,
// [Command] out; it looks at no file and starts nothing. The kinds that come with
// cosim are put together by package builtin.
package adapters

import (
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/layout"
)

// An Adapter renders the processes of one kind. Implementations have no state, so
// that all methods may be called at the same time.
type Adapter interface {
	// Kind describes the adapter to the topology loader.
	Kind() *topology.Kind
}

// A VhostAdapter renders vhosts. The attachments are those of the machine's devices,
// in their order, one for each device.
type VhostAdapter interface {
	Adapter
	Vhost(m *Machine, attachments []Attachment) (Command, diag.List)
}

// A DeviceAdapter renders devices: the device's own process, and what it adds to
// its vhost's command line. Index counts the machine's devices from 0.
type DeviceAdapter interface {
	Adapter
	Device(m *Machine, index int) (Command, Attachment, diag.List)
}

// A Table finds the adapter of a built-in kind by name.
type Table map[string]Adapter

// Kinds lists what the table's adapters say of themselves, for [topology.Options].
func (t Table) Kinds() []*topology.Kind {
	kinds := make([]*topology.Kind, 0, len(t))
	for _, a := range t {
		kinds = append(kinds, a.Kind())
	}
	sortKinds(kinds)
	return kinds
}

// A Session holds what every process of a session may know. All paths are absolute.
type Session struct {
	Name      string
	Hash      string // 8 hexadecimal digits, of the run directory
	RunDir    string
	Workspace string
	Layout    string // layout.json
}

// A Host holds the facts of the host that change a command line.
type Host struct {
	KVM bool // /dev/kvm can be used
}

// A Machine is one machine with everything that its command lines name.
type Machine struct {
	Session *Session
	Host    Host
	Model   *topology.Machine
	Layout  layout.Machine // Layout.Pool is the absolute path of the pool
	Dir     string         // the machine's directory in the run directory

	Log, SerialLog, SerialSocket, QMP string // of the vhost

	Devices []DevicePaths       // by device index
	Disks   map[string]DiskFile // by disk identifier
	Files   Files               // resolves resource paths
}

// DevicePaths are the paths that belong to one device. All are absolute.
type DevicePaths struct {
	Socket, Log, QMP, OutDir string
}

// A DiskFile is what a process opens for a disk: the overlay, where there is one.
type DiskFile struct {
	Path     string // absolute
	Format   string // "raw" or "qcow2"
	ReadOnly bool
	Snapshot bool // Path is a layer that the session throws away, so writes need not be flushed
}

// Files resolves resource paths as written to the paths that processes are given.
type Files interface {
	Resource(name string) string
}

// A Command is a process to be started. It is without effect by itself.
type Command struct {
	Program topology.Path     // as in the model: a path with a slash, or a name for PATH
	Args    []string          // without the program
	Env     []topology.EnvVar // set on top of the inherited environment, sorted by name
	Ready   Ready
	Stop    Stop
	Expect  string   // the log that the vhost's `expect` is matched against
	Dirs    []string // made before the start
	FDs     []FD     // inherited descriptors, in order of their numbers
	Files   []File   // files of shared memory apart from the pool
}

// FirstFD is the number of the first inherited descriptor: 0, 1 and 2 are the
// standard ones.
const FirstFD = 3

// An FD is one end of a socket pair that a process inherits. The other end of the
// same channel belongs to exactly one other process.
type FD struct {
	Number  int    `json:"number"`
	Channel string `json:"channel"` // "<machine>/<device>"
}

// Ready is what has to hold until a process counts as ready. Where nothing is given,
// it is ready once executed. All paths are absolute.
type Ready struct {
	Socket string   `json:"socket,omitempty"` // a socket inode exists here; never connected to
	File   string   `json:"file,omitempty"`   // any file exists here
	Log    string   `json:"log,omitempty"`    // RE2, matches a line of the process's log
	Exec   []string `json:"exec,omitempty"`   // exits with 0
	QMP    string   `json:"qmp,omitempty"`    // a QEMU monitor greets here and answers
}

// Stop is how a process is asked to leave, in this order: QMP quit, the signal, and
// after the grace SIGKILL.
type Stop struct {
	QMP    string `json:"qmp,omitempty"` // socket of a QEMU monitor
	Signal string `json:"signal"`        // without SIG
	Grace  string `json:"grace"`         // a duration
}

// A File is shared memory in a file of its own, made by the session before the start
// and removed by it.
type File struct {
	Region string      // full name in the layout: "memory", "gpu0.vram"
	Path   string      // absolute
	Size   layout.Size // bytes
}

// An Attachment is what a device adds to its vhost. Either PCI or Args is set, or
// neither where the device adds nothing.
type Attachment struct {
	PCI     *PCI
	Args    func(fd int) []string // verbatim; fd is the vhost's number of the channel, 0 without one
	Channel string                // name of the socket pair that joins device and vhost; empty without one

	// Memory is set where the device wants the guest's memory in a file of its own
	// instead of the pool. All devices of a machine then name the same file.
	Memory *File
}

// A PCI is a device to be put on a PCI bus of the vhost's choice.
type PCI struct {
	// Conventional devices may stand behind a pci-bridge, others (PCI Express) behind
	// a root port.
	Conventional bool

	// Args renders the device at a place. An empty bus leaves the choice to the vhost.
	Args func(place PCIPlace) []string
}

// A PCIPlace is where a device goes, and what it is joined to.
type PCIPlace struct {
	Bus, Addr string // such as "pcie.0" and "0x3"; both empty where the simulator chooses
	FD        int    // the vhost's number of the channel, 0 without one
}

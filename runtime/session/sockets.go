package session

import (
	"path/filepath"
	"strconv"
)

// MaxSocketPath is the longest path of a Unix socket in bytes: sockaddr_un has room
// for 108 with the NUL that ends it (unix(7)).
const MaxSocketPath = 107

// An Owner is a machine with its devices, each of which may have sockets.
type Owner struct {
	Machine string
	Devices []string // identifiers, in the order of declaration
}

// Sockets names the sockets of a session: two for each device, and two for each vhost.
// Where one of them would be longer than [MaxSocketPath] in the run directory, all are
// in a short directory and numbered in the order of the plan: machine by machine, each
// device's socket and monitor, then the vhost's monitor and serial line.
//
// It may be used by several goroutines at once.
type Sockets struct {
	layout Layout
	dir    string
	first  map[string]int            // number of a machine's first socket; nil where the run directory serves
	index  map[string]map[string]int // of a machine's devices
	count  map[string]int            // devices of a machine
}

// NewSockets decides where the sockets of a session are. The runtime directory is that
// of the host's ExecEnv.
func NewSockets(l Layout, runtimeDir string, owners []Owner) *Sockets {
	s := &Sockets{layout: l, dir: l.RunDir}
	if longest(l, owners) <= MaxSocketPath {
		return s
	}
	s.dir = shortSocketDir(runtimeDir, l.Hash)
	s.first = make(map[string]int, len(owners))
	s.index = make(map[string]map[string]int, len(owners))
	s.count = make(map[string]int, len(owners))
	next := 0
	for _, o := range owners {
		s.first[o.Machine], s.count[o.Machine] = next, len(o.Devices)
		devices := make(map[string]int, len(o.Devices))
		for i, d := range o.Devices {
			devices[d] = i
		}
		s.index[o.Machine] = devices
		next += 2*len(o.Devices) + 2
	}
	return s
}

// shortSocketDir is the directory for the sockets of a session whose run directory is
// too deep for them.
func shortSocketDir(runtimeDir, hash string) string {
	return filepath.Join(runtimeDir, "cosim-"+hash)
}

// longest is the length of the longest socket path in the run directory.
func longest(l Layout, owners []Owner) int {
	most := 0
	for _, o := range owners {
		name := len("serial.sock")
		for _, d := range o.Devices {
			name = max(name, len(d)+len(".sock"))
		}
		most = max(most, len(l.MachineDir(o.Machine))+1+name)
	}
	return most
}

// Dir is the directory that the sockets are in: the run directory, or the short one.
func (s *Sockets) Dir() string { return s.dir }

// Device is the socket that a device serves.
func (s *Sockets) Device(machine, device string) string {
	if s.first == nil {
		return s.layout.MachineDir(machine) + "/" + device + ".sock"
	}
	return s.numbered(machine, 2*s.index[machine][device])
}

// DeviceQMP is the monitor of a device that is a QEMU process.
func (s *Sockets) DeviceQMP(machine, device string) string {
	if s.first == nil {
		return s.layout.MachineDir(machine) + "/" + device + ".qmp"
	}
	return s.numbered(machine, 2*s.index[machine][device]+1)
}

// QMP is the monitor of a machine's vhost.
func (s *Sockets) QMP(machine string) string {
	if s.first == nil {
		return s.layout.MachineDir(machine) + "/qmp.sock"
	}
	return s.numbered(machine, 2*s.count[machine])
}

// Serial is the serial line of a machine's guest.
func (s *Sockets) Serial(machine string) string {
	if s.first == nil {
		return s.layout.MachineDir(machine) + "/serial.sock"
	}
	return s.numbered(machine, 2*s.count[machine]+1)
}

func (s *Sockets) numbered(machine string, n int) string {
	return s.dir + "/" + strconv.Itoa(s.first[machine]+n) + ".sock"
}

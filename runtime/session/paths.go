package session

// The names of files in the run directory. The dot in session.lock, session.json,
// plan.json and layout.json keeps them apart from every machine, whose identifier has
// none; "memory" is a reserved identifier for this reason.
const (
	stateName  = "session.json"
	planName   = "plan.json"
	layoutName = "layout.json"
	lockName   = "session.lock"
	memoryName = "memory"
)

// StateFile is where the session's state is kept; see [State].
func (l Layout) StateFile() string { return l.RunDir + "/" + stateName }

// PlanFile holds the plan as executed.
func (l Layout) PlanFile() string { return l.RunDir + "/" + planName }

// LayoutFile holds the memory layout as executed.
func (l Layout) LayoutFile() string { return l.RunDir + "/" + layoutName }

// LockFile is locked with flock(2) for the life of the session.
func (l Layout) LockFile() string { return l.RunDir + "/" + lockName }

// MemoryLink is a symbolic link to the pool directory.
func (l Layout) MemoryLink() string { return l.RunDir + "/" + memoryName }

// MachineDir is the directory of one machine's files.
func (l Layout) MachineDir(machine string) string { return l.RunDir + "/" + machine }

// VhostLog is what a machine's vhost wrote to its standard output and error.
func (l Layout) VhostLog(machine string) string { return l.RunDir + "/" + machine + "/vhost.log" }

// SerialLog is what a machine's guest wrote to its serial line.
func (l Layout) SerialLog(machine string) string { return l.RunDir + "/" + machine + "/serial.log" }

// DeviceLog is what a device's process wrote to its standard output and error.
func (l Layout) DeviceLog(machine, device string) string {
	return l.RunDir + "/" + machine + "/" + device + ".log"
}

// OutDir is a device's directory for the files it writes.
func (l Layout) OutDir(machine, device string) string {
	return l.RunDir + "/" + machine + "/" + device + ".out"
}

// Overlay is the session's own layer over a disk.
func (l Layout) Overlay(machine, disk string) string {
	return l.RunDir + "/" + machine + "/" + disk + ".qcow2"
}

// Pool is a machine's memory pool.
func (l Layout) Pool(machine string) string { return l.PoolDir + "/" + machine + ".pool" }

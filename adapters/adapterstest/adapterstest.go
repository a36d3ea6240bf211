// Package adapterstest makes the machines that adapters render, with the paths of a
// session that exists nowhere. It is for tests of adapters, also of those outside this
// module.
package adapterstest

import (
	"fmt"
	"path"
	"strings"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/layout"
)

// PageSize is the page size that machines are laid out with, in bytes.
const PageSize layout.Size = 4096

// Hash is the hash of each session's run directory.
const Hash = "0badcafe"

// Options choose the session and the host. The zero value is a session below /session
// on a host without KVM.
type Options struct {
	Root string // absolute; what all paths are below
	KVM  bool
}

// Machines gives the machines of a checked model as a plan hands them to adapters.
func Machines(model *topology.Model, o Options) ([]*adapters.Machine, error) {
	if o.Root == "" {
		o.Root = "/session"
	}
	s := session(o.Root)
	placed, list := topology.Layout(model, PageSize)
	if err := list.Err(); err != nil {
		return nil, err
	}
	machines := make([]*adapters.Machine, len(model.Machines))
	sockets := 0
	for i, m := range model.Machines {
		placed.Machines[i].Pool = path.Join(o.Root, "shm", "cosim-demo-"+Hash, m.ID+".pool")
		machines[i] = machine(s, m, placed.Machines[i], &sockets)
		machines[i].Host.KVM = o.KVM
	}
	return machines, nil
}

func session(root string) *adapters.Session {
	workspace := path.Join(root, "space")
	run := path.Join(workspace, ".cosim", "demo")
	return &adapters.Session{Name: "demo", Hash: Hash, RunDir: run, Workspace: workspace, Layout: path.Join(run, "layout.json")}
}

// machine names a machine's files after it, and its sockets by number, so that they stay
// short however long the identifiers are.
func machine(s *adapters.Session, m *topology.Machine, placed layout.Machine, sockets *int) *adapters.Machine {
	dir := path.Join(s.RunDir, m.ID)
	socket := func() string {
		*sockets++
		return path.Join(path.Dir(s.Workspace), fmt.Sprintf("%d.sock", *sockets-1))
	}
	out := &adapters.Machine{
		Session: s, Model: m, Layout: placed, Dir: dir,
		Log: path.Join(dir, "vhost.log"), SerialLog: path.Join(dir, "serial.log"),
		SerialSocket: socket(), QMP: socket(),
		Disks: map[string]adapters.DiskFile{},
		Files: files{s.Workspace},
	}
	for _, d := range m.Devices {
		out.Devices = append(out.Devices, adapters.DevicePaths{
			Socket: socket(), QMP: socket(),
			Log: path.Join(dir, d.ID+".log"), OutDir: path.Join(dir, d.ID+".out"),
		})
	}
	for _, d := range m.Disks() {
		out.Disks[d.ID] = diskFile(d, dir, out.Files)
	}
	return out
}

func diskFile(d *topology.Disk, dir string, f adapters.Files) adapters.DiskFile {
	if d.ReadOnly || d.Mode == topology.Direct {
		return adapters.DiskFile{Path: f.Resource(d.File.Path.Name), Format: d.Format, ReadOnly: d.ReadOnly}
	}
	return adapters.DiskFile{Path: path.Join(dir, d.ID+".qcow2"), Format: "qcow2", Snapshot: d.Mode == topology.Snapshot}
}

type files struct{ workspace string }

func (f files) Resource(name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return path.Join(f.workspace, name)
}

package plan

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
	"github.com/cosim-go/cosim/topology/layout"
)

// machine adds one machine and its processes to the plan.
func (m *maker) machine(model *topology.Machine, placed layout.Machine) {
	placed.Pool = m.in.Session.Pool(model.ID)
	files := resources{workspace: m.in.Session.Workspace, remote: model.Remote()}
	m.artifacts(model, files)
	disks := m.planDisks(model, files)
	view := m.view(model, placed, disks, files)

	commands := make([]adapters.Command, 0, len(model.Devices)+1)
	attachments := make([]adapters.Attachment, len(model.Devices))
	ids := make([]string, len(model.Devices))
	for i, device := range model.Devices {
		adapter, ok := m.in.Adapter(device.Kind).(adapters.DeviceAdapter)
		if !ok {
			m.report(noAdapter(device.Kind, device.Pos))
			return
		}
		command, attachment, list := adapter.Device(view, i)
		m.report(list)
		commands, attachments[i], ids[i] = append(commands, command), attachment, model.ID+"/"+device.ID
	}
	adapter, ok := m.in.Adapter(model.Vhost.Kind).(adapters.VhostAdapter)
	if !ok {
		m.report(noAdapter(model.Vhost.Kind, model.Vhost.Pos))
		return
	}
	command, list := adapter.Vhost(view, attachments)
	m.report(list)
	commands = append(commands, command)

	m.plan.Launch.Machines = append(m.plan.Launch.Machines, Machine{
		ID: model.ID, Placement: model.Agent, Disks: disks,
		Pool: Pool{Path: placed.Pool, Size: placed.Size, Regions: regionsWithFiles(placed.Regions, commands)},
	})
	for i, device := range model.Devices {
		m.process(model, topology.RoleDevice, &device.Process, ids[i], view.Devices[i].Log, commands[i], nil)
	}
	p := m.process(model, topology.RoleVhost, &model.Vhost.Process, model.ID+"/vhost", view.Log, command, ids)
	if e := model.Vhost.Expect; e != nil {
		p.Expect = &Expect{Log: command.Expect, Pass: e.Pass, Fail: e.Fail}
	}
	if command.Expect == view.SerialLog {
		p.Console = &Console{Socket: view.SerialSocket, Log: view.SerialLog}
	}
}

// view is the machine as its adapters see it.
func (m *maker) view(model *topology.Machine, placed layout.Machine, disks []Disk, files resources) *adapters.Machine {
	s := m.in.Session
	v := &adapters.Machine{
		Session: &adapters.Session{Name: s.Name, Hash: s.Hash, RunDir: s.RunDir, Workspace: s.Workspace, Layout: s.LayoutFile()},
		Host:    adapters.Host{KVM: m.in.Env.KVM},
		Model:   model, Layout: placed, Files: files,
		Dir: s.MachineDir(model.ID), Log: s.VhostLog(model.ID), SerialLog: s.SerialLog(model.ID),
		SerialSocket: m.sockets.Serial(model.ID), QMP: m.sockets.QMP(model.ID),
		Devices: make([]adapters.DevicePaths, len(model.Devices)),
		Disks:   make(map[string]adapters.DiskFile, len(disks)),
	}
	for i, d := range model.Devices {
		v.Devices[i] = adapters.DevicePaths{
			Socket: m.sockets.Device(model.ID, d.ID), QMP: m.sockets.DeviceQMP(model.ID, d.ID),
			Log: s.DeviceLog(model.ID, d.ID), OutDir: s.OutDir(model.ID, d.ID),
		}
	}
	for _, d := range disks {
		file := adapters.DiskFile{Path: d.Target, Format: d.Format, ReadOnly: d.ReadOnly, Snapshot: d.Mode == topology.Snapshot}
		if d.Target != d.Backing {
			file.Format = "qcow2"
		}
		v.Disks[d.ID] = file
	}
	return v
}

// process adds one process and returns it, to be completed. The pointer is good until
// the next call.
func (m *maker) process(model *topology.Machine, role topology.Role, p *topology.Process, id, log string, c adapters.Command, dependsOn []string) *Process {
	env := make(map[string]string, len(c.Env))
	for _, v := range c.Env {
		env[v.Name] = v.Value
	}
	wanted := c.Program
	if wanted.Pos.IsZero() {
		wanted.Pos = p.Pos // the default of a built-in kind is written nowhere
	}
	program := wanted.Name
	if !model.Remote() {
		program = m.program(wanted, id)
	}
	m.plan.Launch.Processes = append(m.plan.Launch.Processes, Process{
		ID: id, Machine: model.ID, Role: role, Kind: p.Kind.Name,
		Program: program, Args: nonNil(c.Args), Env: env, Dir: m.in.Session.Workspace, Dirs: nonNil(c.Dirs),
		DependsOn: nonNil(dependsOn), Ready: c.Ready, Timeout: duration(p.Timeout), Log: log, Stop: c.Stop, FDs: c.FDs,
	})
	return &m.plan.Launch.Processes[len(m.plan.Launch.Processes)-1]
}

// regionsWithFiles marks the regions that a command keeps in files of their own.
func regionsWithFiles(regions []layout.Region, commands []adapters.Command) []layout.Region {
	out := append([]layout.Region{}, regions...)
	for _, c := range commands {
		for _, f := range c.Files {
			for i := range out {
				if out[i].Name == f.Region {
					out[i].File = f.Path
				}
			}
		}
	}
	return out
}

func noAdapter(k *topology.Kind, at diag.Pos) diag.List {
	return diag.List{{Pos: at, Code: codeNoAdapter, Message: "no adapter renders " + string(k.Role) + " kind \"" + k.Name + "\""}}
}

// resources resolves the resource paths of a machine. Those of a remote machine stay
// as written: they mean its own host.
type resources struct {
	workspace string
	remote    bool
}

func (r resources) Resource(name string) string {
	if r.remote || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.workspace, name)
}

// duration prints a duration in whole seconds where it is one, as people write it.
func duration(d time.Duration) string {
	if d%time.Second == 0 && d < time.Hour {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return d.String()
}

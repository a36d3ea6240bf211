// Package template renders the processes of kinds that are written in YAML: it fills
// the placeholders of their texts.
//
// Values are put in as they are, in JSON and in regular expressions too, there quoted
// in the log expression. A session path that holds a double quote, a backslash or a
// control character is refused where it would become part of a longer text; as a whole
// text it breaks nothing.
package template

import (
	"slices"
	"strings"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/internal/qemuarg"
	"github.com/cosim-go/cosim/adapters/internal/texts"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
)

// An Adapter renders one kind, as a vhost or as a device after the kind's role.
type Adapter struct{ kind *topology.Kind }

var (
	_ adapters.VhostAdapter  = Adapter{}
	_ adapters.DeviceAdapter = Adapter{}
)

// New returns the adapter of a kind with a template.
func New(kind *topology.Kind) Adapter { return Adapter{kind} }

// Kind returns the kind.
func (a Adapter) Kind() *topology.Kind { return a.kind }

// Vhost renders a vhost. An argument that is {{attach}} becomes the attachments; a kind
// without one has no devices that attach anything, which the loader sees to. The log is
// what `expect` is matched against.
func (a Adapter) Vhost(m *adapters.Machine, attachments []adapters.Attachment) (adapters.Command, diag.List) {
	v := m.Model.Vhost
	fds, numbers := adapters.Channels(attachments)
	f := &filler{m: m, process: &v.Process, log: m.Log, attach: attachmentArgs(attachments, numbers)}
	c := a.command(f)
	c.Expect, c.FDs = m.Log, fds
	if file, ok := adapters.GuestMemory(attachments); ok {
		c.Files = []adapters.File{file}
	}
	return c, f.list
}

// attachmentArgs leaves the place of PCI devices to the simulator.
func attachmentArgs(attachments []adapters.Attachment, numbers []int) []string {
	var args []string
	for i, a := range attachments {
		switch {
		case a.PCI != nil:
			args = append(args, a.PCI.Args(adapters.PCIPlace{FD: numbers[i]})...)
		case a.Args != nil:
			args = append(args, a.Args(numbers[i])...)
		}
	}
	return args
}

// Device renders a device, and what it adds to its vhost's command line.
func (a Adapter) Device(m *adapters.Machine, index int) (adapters.Command, adapters.Attachment, diag.List) {
	d, paths, t := m.Model.Devices[index], m.Devices[index], a.kind.Template
	f := &filler{m: m, process: &d.Process, log: paths.Log, device: d, paths: paths, fd: adapters.FirstFD}
	c := a.command(f)
	if texts.Has(a.kind.Template, "out_dir") {
		c.Dirs = []string{paths.OutDir}
	}
	var channel string
	if t.Channel {
		channel = adapters.ChannelName(m, index)
		c.FDs = []adapters.FD{{Number: adapters.FirstFD, Channel: channel}}
	}
	attachment := a.attachment(f)
	attachment.Channel = channel
	return c, attachment, f.list
}

// attachment renders what a device adds once, to find what is wrong with it, and again
// when the vhost knows the number of its descriptor.
func (a Adapter) attachment(f *filler) adapters.Attachment {
	t := a.kind.Template
	if t.Attach.VFIOUser {
		return qemuarg.VFIOUser(f.device.ID, f.paths.Socket)
	}
	if len(t.Attach.Args) == 0 {
		return adapters.Attachment{}
	}
	f.args(t.Attach.Args)
	return adapters.Attachment{Args: func(fd int) []string {
		inVhost := *f
		inVhost.fd, inVhost.list = fd, nil
		return inVhost.args(t.Attach.Args)
	}}
}

// command renders what vhosts and devices have in common.
func (a Adapter) command(f *filler) adapters.Command {
	t := a.kind.Template
	return adapters.Command{
		Program: f.process.Program,
		Args:    slices.Concat(f.args(t.Args), f.process.Args),
		Env:     f.env(t.Env, f.process.Env),
		Ready:   f.ready(t.Ready),
		Stop:    adapters.Stop{Signal: t.Stop.Signal, Grace: t.Stop.Grace.String()},
	}
}

// env puts the entry's variables over the kind's, sorted by name.
func (f *filler) env(kind []topology.TextVar, entry []topology.EnvVar) []topology.EnvVar {
	env := slices.Clone(entry)
	for _, v := range kind {
		written := slices.ContainsFunc(entry, func(e topology.EnvVar) bool { return e.Name == v.Name })
		if !written {
			env = append(env, topology.EnvVar{Name: v.Name, Value: f.text(v.Value)})
		}
	}
	slices.SortFunc(env, func(a, b topology.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return env
}

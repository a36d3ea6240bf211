package adapterstest

import (
	"fmt"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
)

// A Process is a rendered process of a machine.
type Process struct {
	ID      string // "<machine>/vhost" or "<machine>/<device>"
	Command adapters.Command
}

// Render renders a machine with the adapters that find gives: its devices in order, then
// its vhost.
func Render(m *adapters.Machine, find func(*topology.Kind) adapters.Adapter) ([]Process, diag.List, error) {
	var processes []Process
	var list diag.List
	attachments := make([]adapters.Attachment, len(m.Model.Devices))
	for i, d := range m.Model.Devices {
		a, ok := find(d.Kind).(adapters.DeviceAdapter)
		if !ok {
			return nil, nil, fmt.Errorf("kind %q renders no devices", d.Kind.Name)
		}
		command, attachment, problems := a.Device(m, i)
		attachments[i], list = attachment, append(list, problems...)
		processes = append(processes, Process{m.Model.ID + "/" + d.ID, command})
	}
	a, ok := find(m.Model.Vhost.Kind).(adapters.VhostAdapter)
	if !ok {
		return nil, nil, fmt.Errorf("kind %q renders no vhosts", m.Model.Vhost.Kind.Name)
	}
	command, problems := a.Vhost(m, attachments)
	return append(processes, Process{m.Model.ID + "/vhost", command}), append(list, problems...), nil
}

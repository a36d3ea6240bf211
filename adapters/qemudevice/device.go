package qemudevice

import (
	"slices"
	"strconv"

	"github.com/cosim-go/cosim/adapters"
	"github.com/cosim-go/cosim/adapters/internal/qemuarg"
	"github.com/cosim-go/cosim/topology"
	"github.com/cosim-go/cosim/topology/diag"
)

// Device renders the QEMU of one device.
func (adapter) Device(m *adapters.Machine, index int) (adapters.Command, adapters.Attachment, diag.List) {
	d, paths := m.Model.Devices[index], m.Devices[index]
	c := adapters.Command{
		Program: d.Program,
		Env:     d.Env,
		Stop:    adapters.Stop{QMP: paths.QMP, Signal: topology.DefaultStop.Signal, Grace: topology.DefaultStop.Grace.String()},
	}
	var attachment adapters.Attachment
	var machine, server string
	if d.Params.String("transport") == overVFIOUser {
		machine, server = "x-remote,vfio-user=on", vfioUserServer(d, paths.Socket)
		attachment = qemuarg.VFIOUser(d.ID, paths.Socket)
		c.Ready.Socket = paths.Socket
	} else {
		channel := adapters.ChannelName(m, index)
		machine, server = "x-remote", remoteObject(d, adapters.FirstFD)
		attachment = qemuarg.Proxy(d.ID, channel)
		c.FDs = []adapters.FD{{Number: adapters.FirstFD, Channel: channel}}
	}
	c.Args = slices.Concat(
		[]string{"-nodefaults", "-no-user-config", "-display", "none", "-machine", machine},
		nodeArgs(m, d),
		[]string{"-device", deviceObject(d).String()},
		scsiArgs(d),
		[]string{"-object", server},
		qemuarg.Monitor(paths.QMP),
		d.Args,
	)
	return c, attachment, nil
}

// remoteObject serves one device over an inherited socket; a process takes one such
// object (QEMU hw/remote/remote-obj.c).
func remoteObject(d *topology.Device, fd int) string {
	o := qemuarg.NewOptions("x-remote-object").Add("id", qemuarg.RemoteID).
		Add("devid", qemuarg.ID(d.ID)).Add("fd", strconv.Itoa(fd))
	return o.String()
}

// vfioUserServer serves one device on a socket (QEMU qapi/qom.json, VfioUserServerProperties).
func vfioUserServer(d *topology.Device, socket string) string {
	o := (&qemuarg.Object{}).Add("qom-type", "x-vfio-user-server").Add("id", qemuarg.RemoteID).
		Add("socket", qemuarg.UnixSocket(socket)).Add("device", qemuarg.ID(d.ID))
	return o.String()
}

func nodeArgs(m *adapters.Machine, d *topology.Device) []string {
	var args []string
	for i, disk := range d.Disks {
		args = append(args, qemuarg.Blockdev(i, m.Disks[disk.ID])...)
	}
	return args
}

// scsiArgs gives the disks on the device's own SCSI bus, numbered from target 0. QEMU
// names the bus after the device.
func scsiArgs(d *topology.Device) []string {
	var args []string
	target := 0
	for i, disk := range d.Disks {
		if disk.Bus != busSCSI {
			continue
		}
		o := (&qemuarg.Object{}).Add("driver", "scsi-hd").Add("id", qemuarg.DiskID(disk.ID)).
			Add("drive", qemuarg.Node(i)).Add("bus", qemuarg.ID(d.ID)+".0").Add("scsi-id", target)
		args = append(args, "-device", o.String())
		target++
	}
	return args
}

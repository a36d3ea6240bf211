package qemuarg

import (
	"strconv"

	"github.com/cosim-go/cosim/adapters"
)

// Place adds the place of a PCI device to its options, where there is one.
func (o *Options) Place(p adapters.PCIPlace) *Options {
	return o.AddIf(p.Bus != "", "bus", p.Bus).AddIf(p.Addr != "", "addr", p.Addr)
}

// VFIOUser gives the attachment of a device that serves vfio-user on a socket. The
// address of the socket is a structure, so the JSON form is the one that can say it; the
// device exists since QEMU 10.1.
func VFIOUser(id, socket string) adapters.Attachment {
	return adapters.Attachment{PCI: &adapters.PCI{Args: func(p adapters.PCIPlace) []string {
		o := (&Object{}).Add("driver", "vfio-user-pci").Add("id", ID(id))
		if p.Bus != "" {
			o.Add("bus", p.Bus).Add("addr", p.Addr)
		}
		o.Add("socket", UnixSocket(socket))
		return []string{"-device", o.String()}
	}}}
}

// UnixSocket is the address of a Unix socket (QEMU qapi/sockets.json, SocketAddress).
func UnixSocket(path string) *Object {
	return (&Object{}).Add("type", "unix").Add("path", path)
}

// Proxy gives the attachment of a device in another QEMU, over a socket pair. It is a
// conventional PCI device.
func Proxy(id, channel string) adapters.Attachment {
	return adapters.Attachment{Channel: channel, PCI: &adapters.PCI{
		Conventional: true,
		Args: func(p adapters.PCIPlace) []string {
			o := NewOptions("x-pci-proxy-dev").Add("id", ID(id)).Add("fd", strconv.Itoa(p.FD)).Place(p)
			return []string{"-device", o.String()}
		},
	}}
}

package qemuarg

// Monitor gives a QMP monitor on a socket of its own, which QEMU makes and does not wait
// on. The short form -qmp unix:PATH reads a path with a "=" as an option (QEMU 7.2), so
// the character device is written out.
func Monitor(socket string) []string {
	return []string{
		"-chardev", server(QMPID, socket).String(),
		"-mon", NewOptions("chardev="+QMPID).Add("mode", "control").String(),
	}
}

// Serial gives the first serial line: on a socket, and in a log whether or not anybody
// is connected.
func Serial(socket, log string) []string {
	return []string{
		"-chardev", server(SerialID, socket).Add("logfile", log).String(),
		"-serial", "chardev:" + SerialID,
	}
}

func server(id, socket string) *Options {
	return NewOptions("socket").Add("id", id).Add("path", socket).Add("server", "on").Add("wait", "off")
}

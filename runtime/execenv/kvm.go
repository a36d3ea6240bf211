package execenv

import "golang.org/x/sys/unix"

// From linux/kvm.h: _IO(KVMIO, 0x00), _IO(KVMIO, 0x01), and the API version that has
// not changed since Linux 2.6.22.
const (
	kvmGetAPIVersion = 0xae00
	kvmCreateVM      = 0xae01
	kvmAPIVersion    = 12
)

// usableKVM reports whether a VM can be made. A simulator opens the device for reading
// and writing, so both must be permitted; asking for a VM works on a descriptor that
// was opened for reading, and the host is left as it was.
func usableKVM(device string) bool {
	if unix.Faccessat(unix.AT_FDCWD, device, unix.R_OK|unix.W_OK, unix.AT_EACCESS) != nil {
		return false
	}
	fd, err := unix.Open(device, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if version, err := unix.IoctlRetInt(fd, kvmGetAPIVersion); err != nil || version != kvmAPIVersion {
		return false
	}
	vm, err := unix.IoctlRetInt(fd, kvmCreateVM)
	if err != nil {
		return false
	}
	unix.Close(vm)
	return true
}

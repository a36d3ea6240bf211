package host

import (
	"syscall"
	"unsafe"
)

// endWithUs makes the kernel kill a process when the thread that starts it ends.
func endWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// canAwait says that awaitExit waits.
const canAwait = true

// awaitExit waits until a child has ended, and does not reap it (waitid(2)).
func awaitExit(pid int) {
	const (
		pPID    = 1          // P_PID
		wExited = 0x00000004 // WEXITED
		wNoWait = 0x01000000 // WNOWAIT
	)
	var info [16]uint64 // a siginfo_t has 128 bytes
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid), uintptr(unsafe.Pointer(&info)), wExited|wNoWait, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

package gateway

import (
	"net"
	"syscall"
)

// peerProcess returns the ID of the process that made a connection over a Unix socket, 0 when it is not known.
func peerProcess(conn net.Conn) int {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return 0
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	raw.Control(func(fd uintptr) {
		if peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid
}
